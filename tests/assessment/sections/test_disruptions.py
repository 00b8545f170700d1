"""The section on disruptions: spans begin and end where the run says, and acts of loops are moments."""

from __future__ import annotations

import pytest

from coherence.assessment.sections import disruptions
from coherence.language.reading import read_text
from coherence.simulate.study.course import WriteMark
from coherence.simulate.study.repeated_runs import JudgedPromise, PromiseVerdict
from tests.assessment.run_assessments import DESIGN, assessed, curve, rendered


def test_failures_waits_bounds_and_acts_have_lanes() -> None:
    curves = [
        curve("users", "succeed", [(0.0, 100.0), (20.0, 40.0), (50.0, 100.0), (100.0, 100.0)], "%"),
        curve("server", "servers", [(0.0, 4.0), (100.0, 4.0)]),
        curve("server", "queue", [(0.0, 0.0), (60.0, 5.0), (100.0, 5.0)], "req"),
        curve("pool.copies", "signal", [(0.0, 5.0), (90.0, 9.0), (100.0, 9.0)]),
    ]
    writes = [WriteMark(90.0, "scaler", "pool.copies", 5.0, 9.0)]
    rows = rendered(disruptions.section(assessed(curves, writes))).split("<tr>")[2:]
    cells = [row.replace("</td>", "|").split("|") for row in rows]
    shown = [[cell.rpartition(">")[2] for cell in row][:5] for row in cells]
    assert shown == [
        ["users: failing", "1", "30 %", "", "20 s"],
        ["server: more wait than are served", "1", "40 %", "", "1 min"],
        ["pool.copies: at a bound", "1", "10 %", "", "1 min 30 s"],
        ["scaler acts", "", "", "1", "1 min 30 s"],
    ]


def test_a_quiet_run_has_no_timeline() -> None:
    assert "nothing was disrupted" in rendered(disruptions.section(assessed()))


@pytest.mark.parametrize(
    ("sentence", "words"),
    [("always pool.copies <= 5", "kept: first broken"), ("eventually_always pool.copies == 5", "kept: last not so")],
)
def test_the_moment_of_a_promise_says_which_breach_it_is(sentence: str, words: str) -> None:
    promise = read_text(f"{DESIGN}promises: {{kept: {sentence}}}\n").promises["kept"]
    broken = JudgedPromise(promise, PromiseVerdict.BROKEN, "not so", seed=1, seconds=7.0)
    assert f"promise {words}" in rendered(disruptions.section(assessed(promises=(broken,))))
