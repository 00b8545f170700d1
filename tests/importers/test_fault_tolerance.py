"""Fault tolerance of ranks: sections, beats, times that are worked out."""

from __future__ import annotations

from pathlib import Path

import pytest

from coherence import importers
from coherence.base.errors import InputError
from coherence.checking.reports import check
from coherence.findings.finding import Verdict
from coherence.language.design import Design
from tests.paths import DATA

SECTIONS = DATA / "manifests/torchrun-elastic/fault_tol_cfg_sections.yaml"
BEATS = DATA / "manifests/torchrun-elastic/fault_tol_cfg_heartbeats.yaml"


def read(text: str) -> Design:
    return importers.design_from_sources({"ft.yaml": text})


def test_an_untouched_file_gives_a_timer_for_each_section() -> None:
    design = read(SECTIONS.read_text())
    assert {name: str(timer.after) for name, timer in design.timers.items()} == {
        "rank_init_limit": "20 s",
        "rank_step_limit": "10 s",
        "rank_checkpoint_limit": "30 s",
    }
    assert any("rank_out_of_section_timeout (" in words for _, words in design.not_modelled)


def test_times_that_are_worked_out_are_none() -> None:
    assert not read(BEATS.read_text()).timers


@pytest.mark.parametrize(("save", "verdict"), [("20 s .. 90 s", Verdict.CONFLICT), ("5 s .. 20 s", Verdict.PROVED)])
def test_a_save_that_takes_longer_than_its_section_ends_the_rank(save: str, verdict: Verdict, tmp_path: Path) -> None:
    (tmp_path / "ft.yaml").write_text(SECTIONS.read_text())
    overlay = f"coherence: 1\noverlays: manifests\ncomponents: {{rank: {{takes: {{checkpoint: {save}}}}}}}\n"
    (tmp_path / "overlay.yaml").write_text(overlay)
    assert {f.verdict for f in check(tmp_path).findings if f.code == "COH207"} == {verdict}


@pytest.mark.parametrize(
    ("text", "after"), [("rank_heartbeat_timeout: 2700", "45 min"), ("rank_heartbeat_timeout: 1.5", "1.5 s")]
)
def test_a_beat_has_the_time_that_is_written(text: str, after: str) -> None:
    (timer,) = read(f"fault_tolerance: {{{text}}}").timers.values()
    assert str(timer.after) == after


@pytest.mark.parametrize(
    "text", ["{rank_heartbeat_timeout: soon}", "{rank_section_timeouts: [1]}", "{rank_section_timeouts: {step: x}}"]
)
def test_wrong_times_are_refused_with_their_line(text: str) -> None:
    with pytest.raises(InputError, match=r"ft\.yaml:1"):
        read(f"fault_tolerance: {{{text}}}")
