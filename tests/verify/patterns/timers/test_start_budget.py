"""Repairs of a budget for a start: more time, or a timer that begins when the start has ended."""

from __future__ import annotations

import pytest

from coherence.findings.question_input import Subject
from coherence.findings.repairs import apply
from coherence.language.reading import read_text
from coherence.verify.patterns.timers import start_budget

TEXT = """coherence: 1
components: {{server: {{takes: {{load: 3 min .. 10 min}}}}}}
timers:
  liveness: {{from: server starts, first: 120 s, every: 10 s, misses: 3, unless: {unless}, then: restart server}}
"""


@pytest.mark.parametrize("unless", ["server.load ends"])
def test_a_probe_that_kills_a_start_waits_longer_or_begins_after_it(unless: str) -> None:
    text = TEXT.format(unless=unless)
    (found,) = start_budget.ask(Subject(read_text(text, "d"), {"d": text}))
    changed = [apply(repair.edits, {"d": text}) for repair in found.repairs]
    lines = [one["d"].splitlines()[-1] for one in changed if one is not None]
    assert any(f"from: {unless}, first: 120 s" in line for line in lines)
    assert any("from: server starts" in line and line != text.splitlines()[-1] for line in lines)


def test_the_run_shows_when_it_fires_and_how_late_the_activity_would_end() -> None:
    # misses at 120, 130 and 140 s: killed 140 s after the start, while the load takes 3 to 10 min
    text = TEXT.format(unless="server.load ends").replace("server starts, first", "server.load starts, first")
    (found,) = start_budget.ask(Subject(read_text(text, "d"), {"d": text}))
    told = [(step.time, step.text) for step in found.evidence.witness]
    assert told == sorted(told, key=lambda step: step[0] or 0)
    (fires,) = [time for time, words in told if words.startswith("liveness fires: restart server")]
    (ends,) = [(time, words) for time, words in told if "would come only now" in words]
    assert fires is not None
    assert ends[0] is not None
    assert ends[0] == 180  # the kindest run breaks too
    assert 140 <= fires < 160
    assert ends[1].endswith(f"{float(ends[0] - fires):g} s late")
