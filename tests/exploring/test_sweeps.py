"""What a sweep judges, and that it says so where there is nothing for it to judge."""

from __future__ import annotations

import json

import pytest

from coherence.checking.answers import ask_once
from coherence.cli._run import run
from coherence.exploring.sweeps import cell_from, run_verdict, verdict_of
from coherence.findings.finding import Verdict
from coherence.findings.question_input import Subject
from coherence.findings.registry import question_modules
from coherence.language.reading import read_text
from coherence.loops.designs.feedback_groups import Deadline
from coherence.model.elaborate import elaborate
from tests.exploring.test_linear_maps import OPEN_GAIN
from tests.paths import ROOT

STORM = str(ROOT / "specs" / "retry-storm" / "design.yaml")


def test_a_design_without_a_loop_is_not_said_to_settle(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["sweep", STORM, "-p", "workload.clients.rate=50 req/s:400 req/s:4", "--jobs", "1", "-o", "json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["counts"] == {"undecided": 4}
    assert {point["why"] for point in told["points"]} == {
        "the design has no loop in feedback, and a sweep judges nothing else: ask coherence check"
    }


@pytest.mark.slow
@pytest.mark.parametrize("gain", ["1.5 .. 3", "3", "1.5"])
def test_figures_are_of_the_values_that_oscillate(gain: str) -> None:
    """Each lap multiplies a deviation by 1 - k: the factor of k = 1.5 stood beside the oscillation of k = 3."""
    model = elaborate(read_text(OPEN_GAIN.replace("1.5 .. 3", gain), "d.yaml"))
    cell = run_verdict(model, (), Deadline(60))
    swings = gain != "1.5"
    assert (cell.verdict, cell.growth) == (("oscillates", 2) if swings else ("settles", 0.5))
    assert cell.assumes == (("pool.k = 3",) if gain == "1.5 .. 3" else ())
    assert cell_from(cell.as_json()) == cell


@pytest.mark.slow
def test_where_an_open_value_settles_no_figure_is_of_one_end() -> None:
    model = elaborate(read_text(OPEN_GAIN.replace("1.5 .. 3", "1.2 .. 1.5"), "d.yaml"))
    cell = run_verdict(model, (), Deadline(60))
    assert (cell.verdict, cell.growth, cell.assumes) == ("settles", None, ())


LOOP_BESIDE_RETRIES = """coherence: 1
workload: {clients: {rate: 90 req/s, service: {mean: 40 ms, cv: 1}}}
components: {workers: {copies: 4}, web: {load: 100, usage: load / n}}
calls: [{from: clients, to: workers, per_try: 250 ms, tries: 3, retry_when: [timeout], on_timeout: abandon}]
loops:
  hpa:
    timescale: {period: 15 s, phase: 0 s}
    target: {signal: web.usage, setpoint: 7}
    actuation: {signal: web.n, law: proportional, bounds: [1, 60], from: 9}
"""


@pytest.mark.parametrize("tries", [1, 3])
@pytest.mark.parametrize("rate", [10, 50, 90, 200])
def test_nothing_settles_where_check_finds_an_overload(rate: int, tries: int) -> None:
    """A loop that settles stood for the whole design, whatever its calls do."""
    text = LOOP_BESIDE_RETRIES.replace("rate: 90", f"rate: {rate}").replace("tries: 3", f"tries: {tries}")
    design = read_text(text, "d.yaml")
    modules = [one for one in question_modules() if one.questions[0].code in ("COH224", "COH245")]
    findings = [finding for module in modules for finding in ask_once(Subject(design), module).findings]
    codes = {finding.code for finding in findings if finding.verdict is Verdict.CONFLICT}
    left_open = any(finding.verdict is Verdict.UNDECIDED for finding in findings)
    cell = verdict_of(elaborate(design), (), Deadline(300))
    assert cell.verdict == ("conflict" if codes else "undecided" if left_open else "settles")
    assert any(code in cell.why for code in codes) == bool(codes)
    assert bool(codes) == (rate == 200 or (rate == 90 and tries == 3))
    assert left_open == (rate == 50 and tries == 3)  # a pause of 3 s is enough there
