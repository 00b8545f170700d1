"""The seven figures of operators: derived ones against plain arithmetic and an identity of a real run."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from coherence.assessment.parts.runs import RunAnswers
from coherence.assessment.sections import operating_figures
from coherence.findings.finding import Accounting, Report
from coherence.language.reading import read_text
from coherence.simulate.study.repeated_runs import Study
from coherence.simulate.study.samples import study
from coherence.simulate.study.setting import Setting
from tests.assessment.run_assessments import assessed, rendered

QUEUE = """\
coherence: 1
workload: {users: {rate: 8 req/s, service: {mean: 100 ms, cv: 1}}}
components: {web: {copies: 1}}
calls: [{from: users, to: web}]
"""


def _rows(runs: RunAnswers) -> dict[tuple[str, str], list[str]]:
    text = rendered(operating_figures.section(replace(assessed(), runs=runs)))
    rows = [re.findall("<td[^>]*>(.*?)</td>", row) for row in text.split("</tr>")]
    return {(row[0], row[1]): row[2:] for row in rows if len(row) > 2}


def _made(vain: float, waiting: float) -> Study:
    sample = {
        ("users", "arrive", "/s"): 10.0, ("users", "succeed", "%"): 90.0, ("users", "P50", "s"): 0.2,
        ("users -> web", "sends per call", ""): 2.0,
        ("users -> web", "time out", "%"): 5.0, ("web", "busy", "%"): 80.0, ("web", "waiting", "req"): waiting,
        ("web", "served in vain", "%"): vain,
    }  # fmt: skip
    return Study(Setting(100.0, seeds=(1,)), (sample,))


def test_derived_figures_are_those_of_plain_arithmetic() -> None:
    rows = _rows(RunAnswers(_made(0.0, 4.0), _made(25.0, 40.0)))
    assert rows["web", "nominal utilisation"] == ["80", "80", "0", "%"]
    assert rows["web", "effective utilisation"] == ["60", "80", "+20", "%"]
    assert rows["web", "mean wait"] == ["2", "0.2", "-1.8", "s"]
    assert rows["users", "answered"] == ["90", "90", "0", "%"]
    assert rows["users -&gt; web", "timeouts of tries"] == ["5", "5", "0", "%"]
    assert rows["users", "P50"][:2] == ["0.2", "0.2"]


def test_the_mean_wait_and_the_time_in_service_are_the_mean_answer() -> None:
    run = study(read_text(QUEUE), Setting(2000.0, seeds=(1,)))
    rows = _rows(RunAnswers(run))
    readings = {(r.of, r.what): r.value for r in run.readings}
    served = readings["web", "busy"] / 100 / readings["users", "arrive"]
    assert float(rows["web", "mean wait"][0]) + served == pytest.approx(readings["users", "mean"], rel=0.01)


def test_a_station_that_others_call_has_no_mean_wait_and_no_run_says_why() -> None:
    (sample,) = _made(0.0, 4.0).samples
    inner = Study(Setting(100.0, seeds=(1,)), ({**sample, ("front -> web", "sends per call", ""): 1.0},))
    assert ("web", "mean wait") not in _rows(RunAnswers(inner))
    text = rendered(operating_figures.section(replace(assessed(), runs=RunAnswers(refused="too long"))))
    assert "Not computed: too long" in text


def test_the_command_compares_both_designs_on_the_same_chances() -> None:
    runs = RunAnswers(_made(0.0, 4.0), _made(25.0, 40.0))
    both = replace(assessed(), runs=runs, before=("earlier.yaml", Report((), Accounting(), ())))
    text = rendered(operating_figures.section(both))
    assert "coherence simulate earlier.yaml --against design.yaml --for" in text
    assert "coherence diff --since abc design.yaml" in rendered(operating_figures.section(replace(both, since="abc")))
