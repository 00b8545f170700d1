"""Loops alone are run once, exactly."""

from __future__ import annotations

from pathlib import Path

import pytest

from coherence.base.errors import UsageError
from coherence.language.reading import read_text
from coherence.simulate.study.exact_runs import NothingRunsError, exactly, loops_study
from coherence.simulate.study.loops_over_requests import run_model
from coherence.simulate.study.promises import PromiseWatch
from coherence.simulate.study.setting import Setting

EMPTY = "coherence: 1\nworkload: {web: {rate: 9 req/s}}\n"
LOOP = Path("specs/hpa-metric-lag/design.yaml").read_text(encoding="utf-8")


def test_a_design_without_loops_has_nothing_to_run_exactly() -> None:
    design = read_text(EMPTY, "d.yaml")
    with pytest.raises(NothingRunsError, match="nothing here runs"):
        loops_study(run_model(design), Setting(60.0), PromiseWatch(design, 60.0))


def test_one_exact_run_has_no_seeds_and_says_what_becomes_of_it() -> None:
    design = read_text(LOOP, "d.yaml")
    own = loops_study(run_model(design), Setting(600.0), PromiseWatch(design, 600.0))
    assert own.setting.seeds == ()
    assert len(own.samples) == 1
    assert own.notes


def test_a_time_with_too_many_instants_is_refused() -> None:
    with pytest.raises(UsageError, match="choose a shorter --for"):
        exactly(run_model(read_text(LOOP, "d.yaml")), Setting(1e9))
