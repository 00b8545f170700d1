"""Folders in which nothing is to be looked at are errors; every file that is not read is listed with its reason."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from coherence.base.errors import InputError
from coherence.checking.input_files import input_files
from coherence.checking.reports import check
from coherence.checking.workspace import open_workspace
from coherence.reporting import render

DESIGN = "coherence: 1\ncomponents: {a: {x: 1}}\n"


def skipped(folder: Path) -> dict[str, str]:
    return {Path(one.path).name: one.kind for one in open_workspace([folder]).skipped}


def test_each_file_that_is_not_read_has_a_kind_and_a_reason(tmp_path: Path) -> None:
    for name, text in {
        "design.yaml": DESIGN,
        "expected.yaml": "findings: []\n",
        "deploy.yaml.j2": "coherence: {{ version }}\n",
        "values.json": '{"a": 1}',
        "bad.yml": "{{ template }}: [\n",
        "empty.yaml": "# nothing\n",
        "forgotten.yaml": "components: {a: {x: 1}}\npromises: {p: always a.x > 0}\n",
        "README.md": "words",
    }.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    os.mkfifo(tmp_path / "pipe.yaml")
    (tmp_path / "link").symlink_to(tmp_path, target_is_directory=True)
    assert skipped(tmp_path) == {
        "expected.yaml": "file of expected answers",
        "deploy.yaml.j2": "template",
        "values.json": "neither a design nor a manifest",
        "bad.yml": "file that is no YAML",
        "empty.yaml": "empty file",
        "forgotten.yaml": "design without `coherence: 1`",
        "pipe.yaml": "special file",
        "link": "link to a folder",
    }


def test_every_format_for_people_counts_them_and_json_lists_them(tmp_path: Path) -> None:
    (tmp_path / "design.yaml").write_text(DESIGN, encoding="utf-8")
    for name in ("a.json", "b.json"):
        (tmp_path / name).write_text("{}", encoding="utf-8")
    (tmp_path / "c.yaml.tmpl").write_text("x", encoding="utf-8")
    report = check(tmp_path)
    counts = "3 files: 2 neither a design nor a manifest, 1 template"
    assert f"skipped: {counts} (verbose lists them)\n" in render("text", report)
    assert f"{tmp_path}/c.yaml.tmpl: skipped: template (render it first)" in render("text", report, verbose=True)
    assert f"Skipped {counts}" in render("markdown", report)
    listed = json.loads(render("json", report))["skipped"]
    assert [(Path(one["path"]).name, one["kind"]) for one in listed] == [
        ("c.yaml.tmpl", "template"),
        ("a.json", "neither a design nor a manifest"),
        ("b.json", "neither a design nor a manifest"),
    ]
    notes = json.loads(render("sarif", report))["runs"][0]["invocations"][0]["toolExecutionNotifications"]
    assert "skipped: template (render it first)" in [note["message"]["text"] for note in notes]


@pytest.mark.parametrize(
    ("name", "words"),
    [
        (None, "no design and no manifest under"),
        ("design.yml.j2", r"1 template \(.*design.yml.j2: render it first\)"),
        ("notes.yaml", r"1 neither a design nor a manifest \(.*notes.yaml: it has no"),
        ("notes.txt", "no design and no manifest under"),
    ],
)
def test_a_folder_in_which_nothing_is_looked_at_is_an_error(tmp_path: Path, name: str | None, words: str) -> None:
    if name is not None:
        (tmp_path / name).write_text("a: 1\n", encoding="utf-8")
    with pytest.raises(InputError, match=words):
        open_workspace([tmp_path])


@pytest.mark.parametrize("key", ["coherance", "Coherence", "coherense", "COHERENCE"])
def test_a_misspelt_first_key_is_an_error_also_beside_a_design(tmp_path: Path, key: str) -> None:
    (tmp_path / "a.yaml").write_text(DESIGN, encoding="utf-8")
    (tmp_path / "b.yaml").write_text(f"{key}: 1\nloops: {{}}\n", encoding="utf-8")
    with pytest.raises(InputError, match=rf"b.yaml:1:1: '{key}' is no key of a design.*\n.*did you mean 'coherence'"):
        open_workspace([tmp_path])


def test_names_are_read_whatever_the_case_of_their_ending(tmp_path: Path) -> None:
    (tmp_path / "A.YAML").write_text(DESIGN, encoding="utf-8")
    assert list(input_files([tmp_path]).explicit) == [str(tmp_path / "A.YAML")]
    assert len(open_workspace([tmp_path]).entries) == 1


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads every folder")
def test_a_folder_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    (tmp_path / "design.yaml").write_text(DESIGN, encoding="utf-8")
    (tmp_path / "closed").mkdir(mode=0)
    try:
        assert skipped(tmp_path) == {"closed": "folder that cannot be read"}
    finally:
        (tmp_path / "closed").chmod(0o700)
