"""Facts of which a run reads one end: each is named, and what is exact is not."""

from __future__ import annotations

import pytest

from coherence.base.reads import recorded
from coherence.language.reading import read_text
from coherence.model.elaborate import elaborate
from coherence.simulate.execute.open_ranges import lower_ends, one_ended

TEXT = """coherence: 1
components: {plant: {state: "x' = 0.5 * x", step: 1 s, from: 0 .. 9}, limit: {top: 5}}
loops:
  act:
    rank: 1
    timescale: {period: 10 s, phase: 1 s, hold_down: 20 s, hold_up: 20 s, cooldown: 30 s, lands: 2 s}
    target: {signal: x, setpoint: 5, tolerance: 10 %, sensor: [scrape 15 s]}
    actuation: {signal: job.v, law: proportional, bounds: [1, 9], rate: [{by: 2, percent: 10 %, per: 60 s}], from: 0}
"""


@pytest.mark.parametrize(
    ("old", "new", "facts"),
    [
        ("coherence: 1", "coherence: 1", ()),
        ("from: 0 .. 9", "from: 0 .. 5", ()),  # every start is run
        ("phase: 1 s", "phase: 1 s .. 2 s", ("`phase` of act",)),
        ("hold_down: 20 s", "hold_down: 0 s .. 20 s", ("`hold_down` of act",)),
        ("hold_up: 20 s", "hold_up: 0 s .. 20 s", ("`hold_up` of act",)),
        ("cooldown: 30 s", "cooldown: 0 s .. 30 s", ("`cooldown` of act",)),
        ("lands: 2 s", "lands: 0 s .. 2 s", ("`lands` of act",)),
        ("tolerance: 10 %", "tolerance: 5 % .. 10 %", ("`tolerance` of act",)),
        ("scrape 15 s", "scrape 15 s .. 30 s", ("`sensor` of act",)),
        ("by: 2", "by: 1 .. 2", ("`rate` of act",)),
        ("percent: 10 %", "percent: 5 % .. 10 %", ("`rate` of act",)),
        ("per: 60 s", "per: 30 s .. 60 s", ("`rate` of act",)),
        ("[1, 9]", "[1, 8 .. 9]", ("`bounds` of act",)),
        ("step: 1 s", "step: 1 s .. 2 s", ("`step` of plant",)),
        ("by: 2, percent: 10 %", "by: 1 .. 2, percent: 5 % .. 10 %", ("`rate` of act",)),  # once
    ],
)
def test_a_range_of_which_a_run_reads_one_end_is_named(old: str, new: str, facts: tuple[str, ...]) -> None:
    assert old in TEXT
    assert one_ended(elaborate(read_text(TEXT.replace(old, new)))) == facts


def test_a_run_names_the_value_that_it_takes_of_each_range_once() -> None:
    text = TEXT.replace("top: 5}", "top: 5 .. 7, load: {varies: 10 ms .. 20 ms}}")
    text = text.replace("rank: 1", "rank: 1 .. 2").replace("lands: 2 s", "lands: 0 s .. 2 s")
    model = elaborate(read_text(text, "d.yaml"))
    load = "limit.load = 10 ms, the lower end of 10 ms .. 20 ms, which varies"
    loop = ("lands of act = 2 s", "one end of `rank` of act")
    assert lower_ends(model, ()) == ("limit.top = 5, the lower end of 5 .. 7", load, *loop)
    assert lower_ends(model, {"limit.top"}) == (load, *loop)
    assert lower_ends(elaborate(read_text(TEXT, "d.yaml")), ()) == ()


def test_naming_the_ends_counts_nothing_as_read() -> None:
    model = elaborate(read_text(TEXT.replace("rank: 1", "rank: 1 .. 2"), "d.yaml"))
    with recorded() as reads:
        assert lower_ends(model, ())
    assert not reads.all()
