"""A loop whose phase lies beyond every run that is looked at is not quiet: nothing of it was seen."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from coherence.cli._run import run
from coherence.language.reading import read_text
from coherence.model.elaborate import elaborate
from coherence.simulate.execute.schedules import schedules
from coherence.simulate.execute.single_loop_runs import every
from tests.paths import SPECS


@pytest.mark.slow
def test_a_phase_far_beyond_the_period_ends_no_check(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = (SPECS / "hpa-metric-lag" / "design.yaml").read_text(encoding="utf-8")
    late, count = re.subn("phase: 500 ms", "phase: 1000 s", text)
    assert count == 1
    (tmp_path / "design.yaml").write_text(late, encoding="utf-8")
    assert run(["check", str(tmp_path / "design.yaml"), "--no-cache"]) == 1
    shown = capsys.readouterr().out
    assert "never settles" in shown
    assert "undecided[COH220]" in shown


def test_every_order_of_samples_and_scrapes_is_a_choice_of_its_own() -> None:
    text = """coherence: 1
components: {web: {load: 100, usage: load / desired}}
loops:
  hpa:
    timescale: {period: 10 s}
    target: {signal: web.usage, setpoint: 0.5, sensor: [scrape 15 s]}
    actuation: {signal: web.desired, law: proportional, bounds: [1, 1000], from: 120}
"""
    model = elaborate(read_text(text))
    patterns = [schedule.phases["hpa"] for schedule in schedules(model)]
    assert len(set(patterns)) == len(patterns) > 1
    assert [choices.phases.get("hpa", 0) for choices in every(model, 100)] == patterns
