"""The page and the picture of an experiment say what its runs say."""

from __future__ import annotations

from pathlib import Path

import pytest

from coherence.base.errors import UsageError
from coherence.exploring.experiments.control_distortion import EXPERIMENT
from coherence.exploring.experiments.experiment import Experiment
from coherence.exploring.experiments.pages import page, write_page
from coherence.exploring.experiments.results import ExperimentResult, SignatureRun

PAGES = Path(__file__).resolve().parents[3] / "specs" / "experiments"


def result(experiment: Experiment = EXPERIMENT) -> ExperimentResult:
    """Returns runs of which every second one rejects, with a magnitude of a quarter."""
    runs = {
        truth.stream: tuple(
            SignatureRun(truth.stream, seed, 0.5 * (seed % 2), 0.25, "of what varies", "it obeys")
            for seed in range(truth.seeds)
        )
        for truth in experiment.truths(curves=True)
    }
    return ExperimentResult("control-distortion", experiment, runs)


def test_each_truth_and_each_curve_has_its_line() -> None:
    text = page(result())
    assert "| gain CV .2 | 150 of 300 | at least 270 | 0.25 | of what varies |" in text
    assert "- gain varies, CV: rejected in a share of 0.5 at 0, 0.5 at 0.05" in text


def test_the_files_are_written_and_the_picture_has_a_panel_for_each_kind_of_size(tmp_path: Path) -> None:
    readme, picture = write_page(result(), tmp_path)
    assert readme.read_text().startswith("# Control distortion\n")
    assert "overhead" in picture.read_text()
    assert "CV" in picture.read_text()


def test_a_folder_that_cannot_be_written_to_is_named(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"cannot write .*README\.md"):
        write_page(result(), tmp_path / "none")


@pytest.mark.parametrize("name", [path.name for path in PAGES.iterdir() if path.is_dir()])
def test_the_shipped_page_names_the_command_that_writes_it(name: str) -> None:
    text = (PAGES / name / "README.md").read_text()
    assert f"coherence reproduce --experiment {name} --into specs/experiments" in text
