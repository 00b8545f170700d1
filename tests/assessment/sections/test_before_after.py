"""The table of indices before and after: of telemetry whose indices are known, beside what `fit` says of each alone."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from coherence.assessment.parts.runs import RunAnswers
from coherence.assessment.sections import before_after
from coherence.causal.answers.answer import Section
from coherence.cli._run import run
from coherence.findings.finding import Accounting, Report
from coherence.simulate.study.repeated_runs import Study, StudyReading, difference
from coherence.simulate.study.setting import Setting
from tests.assessment.html_pages import Page
from tests.assessment.run_assessments import assessed, rendered

DESIGN = """\
coherence: 1
system: small
workload: {chat: {rate: 1 req/s, service: {mean: 0.5 s, cv: 0}, deadline: 4 s, entitlement: 8}}
"""
OVERHEADS = {"before": 0.3, "after": 0.1}  # of each request: DI itself, and HCL is 1 - 1 / (1 + overhead)


def _measured(folder: Path, overhead: float) -> None:
    """Writes a design, its series and a log of requests that never wait and take so much longer than they need."""
    folder.mkdir()
    (folder / "design.yaml").write_text(DESIGN, encoding="utf-8")
    rng = np.random.default_rng(1)
    rows = [f"{15 * k},{1 + 0.1 * rng.normal():.4f}" for k in range(200)]
    (folder / "series.csv").write_text("\n".join(("time,chat.rate", *rows)), encoding="utf-8")
    taken = 0.5 * (1 + overhead)
    log = [f"{k},0.5,{k + taken},completed,4,1,chat,{taken}" for k in range(3000)]
    header = "arrival,need,end,outcome,deadline,attempts,class,held"
    (folder / "requests.csv").write_text("\n".join((header, *log)), encoding="utf-8")


def test_what_one_telemetry_does_not_know_says_why() -> None:
    def indices(**known: float) -> tuple[Section, ...]:
        rows = [{"name": name, "known": True, "bound": "=", "value": value, "low": value - 0.1, "high": value + 0.1}
                for name, value in known.items()]  # fmt: skip
        unknown = {"name": "WPI", "known": False, "why": "no burst"}
        return (Section(before_after.INDICES, (), {"indices": [*rows, unknown]}),)

    both = replace(
        assessed(), before=("earlier.yaml", Report((), Accounting(), ())), telemetry=indices(CI=0.9),
        measured_before=indices(CI=0.5, DI=1.25),
    )  # fmt: skip
    table = rendered(before_after.section(both)).partition("Indices of coordination, before and after")[2]
    rows = [re.findall("<td[^>]*>(.*?)</td>", row) for row in table.partition("<tbody>")[2].split("</tr>")[:3]]
    assert rows == [
        ["CI", "0.5 [0.4, 0.6]", "0.9 [0.8, 1]"],
        ["DI", "1.25 [1.15, 1.35]", "not known"],
        ["WPI", "not known: no burst", "not known: no burst"],
    ]
    assert "are compared where both have telemetry" in rendered(before_after.section(replace(both, telemetry=())))


@pytest.mark.slow
def test_indices_of_both_telemetries_stand_in_one_table(tmp_path: Path) -> None:
    for name, overhead in OVERHEADS.items():
        _measured(tmp_path / name, overhead)
    before, after = tmp_path / "before", tmp_path / "after"
    words = ["--telemetry", str(after / "series.csv"), "--requests", str(after / "requests.csv"),
             "--before", str(before / "design.yaml"), "--before-telemetry", str(before / "series.csv"),
             "--before-requests", str(before / "requests.csv")]  # fmt: skip
    file = tmp_path / "report.html"
    assert run(["report", str(after / "design.yaml"), *words, "-o", str(file), "--no-cache"]) == 0
    text = Page(file.read_text(encoding="utf-8")).text
    table = text.partition("Indices of coordination, before and after")[2]
    for name, true in (("DI", OVERHEADS), ("HCL", {key: 1 - 1 / (1 + e) for key, e in OVERHEADS.items()})):
        shown = re.search(rf"\b{name}\s+(\S+) \[\S+ \S+\s+(\S+)", table)
        assert shown is not None, table[:400]
        assert [float(word) for word in shown.groups()] == pytest.approx(list(true.values()), abs=0.01)


def test_both_values_of_a_figure_are_those_of_all_requests_and_the_change_is_the_mean_of_the_runs() -> None:
    key = ("web", "P50", "s")

    def study(pooled: float, *runs: float) -> Study:
        whole = (StudyReading(*key, pooled),)
        return Study(Setting(60.0, seeds=(1, 2)), tuple({key: run} for run in runs), pooled=whole)

    before, after = study(0.5, 0.1, 9.1), study(0.07, 0.07, 0.07)
    compared = replace(
        assessed(), before=("earlier.yaml", Report((), Accounting(), ())),
        runs=RunAnswers(after, before, difference(before, after)),
    )  # fmt: skip
    text = rendered(before_after.section(compared))
    row = re.findall("<td[^>]*>(.*?)</td>", text.partition(">web: P50</td>")[2])[:2]
    assert row == ["0.5", "0.07"]  # not 0.5 and 0.5 less the mean change of 4.53
    assert "-4.53" in text
    assert "seed by seed" in text
