"""Outputs never stand over inputs, over files of somebody else, or through links; what we wrote we may write again."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from coherence.__main__ import main
from coherence.base.errors import UsageError
from coherence.base.output_files import MARKER, output_folder, write_output, write_outputs
from coherence.reporting.pictures import files
from coherence.reporting.pictures.figure import Figure
from tests.paths import ROOT

SPEC = ROOT / "specs" / "shutdown-retry" / "design.yaml"


def test_a_file_with_the_mark_is_written_again_and_another_one_is_not(tmp_path: Path) -> None:
    path = tmp_path / "out"
    for content in (b"<mark> 1", b"<mark> 2"):
        write_output(path, content, mark=b"<mark>")
        assert path.read_bytes() == content
    path.write_bytes(b"mine")
    with pytest.raises(UsageError, match="holds something else and is not overwritten"):
        write_output(path, b"<mark> 3", mark=b"<mark>")
    assert path.read_bytes() == b"mine"


def test_devices_and_empty_files_are_written(tmp_path: Path) -> None:
    write_output(os.devnull, b"x", mark=b"y")
    (tmp_path / "empty").touch()
    write_output(tmp_path / "empty", b"x", mark=b"y")
    assert (tmp_path / "empty").read_bytes() == b"x"


def test_a_folder_with_files_of_these_names_is_not_taken(tmp_path: Path) -> None:
    (tmp_path / "README.txt").write_text("mine", encoding="utf-8")
    with pytest.raises(UsageError, match=r"holds README\.txt already, not written by coherence"):
        write_outputs(tmp_path, {"README.txt": b"ours", "b": b"x"})
    assert sorted(path.name for path in tmp_path.iterdir()) == ["README.txt"]


def test_a_folder_of_ours_is_written_again_but_not_through_links(tmp_path: Path) -> None:
    folder, foreign = tmp_path / "folder", tmp_path / "foreign"
    foreign.write_text("mine", encoding="utf-8")
    for content in (b"1", b"2"):
        assert write_outputs(folder, {"a": content}) == [folder / "a"]
    assert (folder / "a").read_bytes() == b"2"
    assert (folder / MARKER).is_file()
    (folder / "a").unlink()
    (folder / "a").symlink_to(foreign)
    with pytest.raises(UsageError, match="is a link"):
        output_folder(folder, ["a"])
    assert foreign.read_text(encoding="utf-8") == "mine"


@pytest.mark.parametrize("form", ["text", "concise", "json", "sarif", "junit", "markdown", "github"])
def test_a_report_overwrites_a_report_and_no_design(form: str, tmp_path: Path) -> None:
    design, report = tmp_path / "d.yaml", tmp_path / "report"
    design.write_bytes(SPEC.read_bytes())
    for _ in range(2):
        with pytest.raises(SystemExit) as ended:
            main(["check", str(design), "-o", f"{form}={report}"])
        assert ended.value.code == 1
    with pytest.raises(SystemExit) as ended:
        main(["check", str(design), "-o", f"{form}={design}"])
    assert ended.value.code == 2
    assert design.read_bytes() == SPEC.read_bytes()


@pytest.mark.parametrize("ending", ["svg", "png"])
def test_a_picture_overwrites_a_picture_alone(ending: str, tmp_path: Path) -> None:
    path = tmp_path / f"picture.{ending}"
    for _ in range(2):
        files.write(Figure("title", (), 1), str(path))
    path.write_bytes(b"mine")
    with pytest.raises(UsageError, match="holds something else"):
        files.write(Figure("title", (), 1), str(path))


def test_a_full_disk_leaves_no_stub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(_: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("coherence.base.replace_files.os.fsync", full)
    with pytest.raises(SystemExit) as ended:
        main(["init", "--to", str(tmp_path / "design.yaml")])
    assert ended.value.code == 2
    assert not list(tmp_path.iterdir())
