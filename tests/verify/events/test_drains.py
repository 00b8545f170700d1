"""How long a removed thing still answers, with literal answers."""

from __future__ import annotations

from coherence.language.reading import read_text
from coherence.verify.events.drains import drains
from coherence.verify.timers.firing import ended_by
from tests.verify.affine_rows import figures


def test_drains_are_stated_by_components_and_by_timers() -> None:
    text = """
coherence: 1
components: {pool: {drain: 60 s}, spot: {}}
calls: [{from: app, to: pool}, {from: app, to: spot}]
timers:
  kill: {from: spot notice, after: 30 s, jitter: 5 s, then: stop spot}
  unlist: {from: spot notice, after: 3 s, then: unlist spot}
"""
    stated = read_text(text)
    assert [figures(d.name, d.thing, d.lasts.low, d.lasts.high) for d in drains(stated)] == [
        ("pool", "pool", 60, 60), ("kill", "spot", 25, 35),
    ]  # fmt: skip
    assert [drain.reached for drain in drains(stated)] == [0, 3]
    assert [ended_by(timer) for timer in stated.timers.values()] == ["spot", ""]
