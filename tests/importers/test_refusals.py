"""An object that its importer refuses is named with its line, and the others of the folder are checked."""

from __future__ import annotations

from pathlib import Path

import pytest

from coherence.base.errors import InputError
from coherence.checking.reports import check
from coherence.checking.workspace import open_workspace
from coherence.cli._run import run

GOOD = "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\nspec: {replicas: 1}\n"
BAD = """apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {name: patch}
spec:
  maxReplicas: 5
"""


def test_one_refused_object_of_a_folder_is_named_and_stops_nothing(tmp_path: Path) -> None:
    (tmp_path / "all.yaml").write_text(f"{GOOD}---\n{BAD}")
    (entry,) = open_workspace([tmp_path]).entries
    assert set(entry.design.components) == {"web"}
    (line,) = [line for line in check(tmp_path).not_read if line.section == "manifests"]
    assert (line.place.line, line.entry, line.key) == (
        10,
        "HorizontalPodAutoscaler patch",
        "spec.scaleTargetRef is missing",
    )
    assert line.counts


def test_it_counts_for_strict(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "all.yaml").write_text(f"{GOOD}---\n{BAD}")
    assert run(["check", str(tmp_path)]) == 0
    assert run(["check", str(tmp_path), "--strict"]) == 4
    assert "HorizontalPodAutoscaler patch" in capsys.readouterr().out


def test_repairs_read_the_files_again_without_it(tmp_path: Path) -> None:
    (tmp_path / "all.yaml").write_text(f"{GOOD}---\n{BAD}")
    (entry,) = open_workspace([tmp_path]).entries
    assert set(entry.rebuild(entry.sources).components) == {"web"}


def test_a_refused_object_of_a_file_that_is_named_itself_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "all.yaml"
    path.write_text(f"{GOOD}---\n{BAD}")
    with pytest.raises(InputError, match="scaleTargetRef is missing"):
        open_workspace([path])


def test_a_folder_in_which_everything_is_refused_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "bad.yaml").write_text(BAD)
    with pytest.raises(InputError, match="scaleTargetRef is missing"):
        open_workspace([tmp_path])


def test_several_objects_are_refused_each_by_its_own_first_problem(tmp_path: Path) -> None:
    worse = GOOD.replace("web", "api").replace("replicas: 1", "replicas: many")
    (tmp_path / "all.yaml").write_text(f"{worse}---\n{BAD}---\n{GOOD}")
    lines = [line for line in check(tmp_path).not_read if line.section == "manifests"]
    assert [line.entry for line in lines] == ["Deployment api", "HorizontalPodAutoscaler patch"]
