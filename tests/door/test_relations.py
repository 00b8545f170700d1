"""`simulate` of designs with jobs and evictors: alone, beside an exact run, and refused with the reason."""

from __future__ import annotations

import pytest

from coherence.base.errors import InputError
from coherence.door.relations import with_relations
from coherence.language.reading import read_text
from coherence.simulate.study.repeated_runs import Study
from coherence.simulate.study.samples import study
from coherence.simulate.study.setting import Setting

SETTING = Setting(600.0, 0.0, (1, 2))
JOBS = """coherence: 1
components: {gpu: {count: 4}}
jobs:
  low: {needs: 4 gpu, priority: 1, leaves_after: 30 s, age: 2 h}
  high: {needs: 4 gpu, priority: 5, leaves_after: 30 s, age: 1 h}
order:
  admit: largest job.priority first
  preempt: for waiting take running where running.priority < waiting.priority
  victim: returns, no reservation
"""
EVICTS = """coherence: 1
components: {web: {copies: 3, returns: always, hot: 1 .. 9}}
places: {node: {count: 2}}
loops: {killer: {timescale: {period: 1 min}, trigger: web.hot > 5, actuation: {evict: web}}}
"""


def run_of(text: str) -> Study:
    design = read_text(text)
    return with_relations(design, SETTING, lambda: study(design, SETTING))


def test_jobs_run_without_anything_else_and_the_older_one_is_taken_once() -> None:
    shown = run_of(JOBS)
    values = {(reading.of, reading.what): reading.value for reading in shown.readings}
    assert values["jobs", "preemptions"] == 1
    assert values["jobs", "admissions"] == 2
    assert values["jobs", "at rest at the end"] == 100
    assert any("none ends" in note for note in shown.assumptions)


def test_what_cannot_run_is_refused_with_what_it_needs() -> None:
    with pytest.raises(InputError, match="evictions of web are not run: needs a trigger of killer"):
        run_of(EVICTS)


def test_a_design_without_jobs_is_run_as_before() -> None:
    with pytest.raises(InputError, match="nothing here runs"):
        run_of("coherence: 1\ncomponents: {web: {copies: 2}}\n")
