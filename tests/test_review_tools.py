"""The action, the hooks and the container file of this repository: their own commands run, on hostile inputs too."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml

from coherence.base.version import VERSION
from coherence.cli._run import run
from tests.paths import ROOT
from tests.test_licences import closure

CONFLICT = """coherence: 1
calls:
  - {from: app, to: api, deadline: 10 s, per_try: 5 s, tries: 4, retry_when: [timeout]}
"""


def steps() -> list[dict[str, Any]]:
    action: dict[str, Any] = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
    assert action["runs"]["using"] == "composite"
    return list(action["runs"]["steps"])


def checked(folder: Path, **inputs: str) -> subprocess.CompletedProcess[str]:
    """Runs the script of the action's check as a runner does."""
    program = folder.parent / "coherence"
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m coherence "$@"\n')
    program.chmod(0o755)
    summary = folder.parent / "step-summary.md"
    summary.touch()
    given = {"PATHS": ".", "SINCE": "", "FAIL_ON": "conflict", "BASELINE": "", "SARIF": ""} | inputs
    runner = {"COHERENCE": str(program), "SUMMARY": f"{folder.parent}/s.md", "GITHUB_STEP_SUMMARY": str(summary)}
    (script,) = [step["run"] for step in steps() if step["name"] == "Check"]
    return subprocess.run(
        ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", script],  # noqa: S607
        cwd=folder,
        env={**os.environ, **given, **runner, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "work").mkdir()
    (tmp_path / "work" / "design.yaml").write_text(CONFLICT)
    return tmp_path / "work"


def git(folder: Path, *words: str) -> None:
    who = ["-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false"]
    subprocess.run(["git", *who, *words], cwd=folder, check=True, capture_output=True)  # noqa: S607


@pytest.mark.slow
def test_the_action_annotates_summarises_and_fails(folder: Path) -> None:
    done = checked(folder, SARIF="out.sarif")
    assert done.returncode == 1, done.stderr
    assert done.stdout.startswith("::error col=")
    assert "file=./design.yaml,line=3" in done.stdout
    assert (folder.parent / "step-summary.md").read_text().startswith("# Coherence report")
    assert (folder / "out.sarif").exists()
    assert checked(folder, FAIL_ON="never").returncode == 0
    assert checked(folder, PATHS="absent.yaml").returncode == 2


@pytest.mark.slow
def test_the_action_compares_with_the_base_of_a_pull_request(folder: Path) -> None:
    git(folder, "init", "-q", "-b", "main", ".")
    git(folder, "add", ".")
    git(folder, "commit", "-q", "-m", "a state")
    assert checked(folder, SINCE="HEAD").returncode == 0
    assert checked(folder, SINCE="none").returncode == 1


@pytest.mark.parametrize("hostile", ["$(touch ../owned)", "`touch ../owned`", "; touch ../owned", "--help", "a\nb"])
def test_an_input_of_the_action_is_never_a_command(folder: Path, hostile: str) -> None:
    checked(folder, **dict.fromkeys(("PATHS", "SINCE", "FAIL_ON", "BASELINE", "SARIF"), hostile))
    assert not (folder.parent / "owned").exists()


def test_no_script_of_the_action_has_an_expression_in_it() -> None:
    assert not [step["name"] for step in steps() if "${{" in step["run"]]


def test_every_input_of_the_action_is_used_and_described() -> None:
    action = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
    used = set(re.findall(r"inputs\.([a-z-]+)", (ROOT / "action.yml").read_text(encoding="utf-8")))
    assert used == set(action["inputs"])
    assert all(one["description"] for one in action["inputs"].values())


def test_the_hooks_are_commands_that_exist(capsys: pytest.CaptureFixture[str]) -> None:
    hooks = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8"))
    assert [hook["id"] for hook in hooks] == ["coherence-check", "coherence-review"]
    for hook in hooks:
        program, *words = hook["entry"].split()
        assert program == "coherence"
        assert run([*words, "--help"]) == 0
    capsys.readouterr()


def test_the_container_gets_what_the_package_is_built_from() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    wheel = project["tool"]["hatch"]["build"]["targets"]["wheel"]
    needed = {"pyproject.toml", project["project"]["readme"], "LICENSE", *wheel["packages"], *wheel["force-include"]}
    kept = {line[1:] for line in (ROOT / ".dockerignore").read_text(encoding="utf-8").splitlines() if line[:1] == "!"}
    assert needed <= kept
    assert all((ROOT / name).exists() for name in kept)


def release_steps() -> dict[str, str]:
    workflow = yaml.safe_load((ROOT / ".github" / "workflows" / "release.yml").read_text(encoding="utf-8"))
    return {step["name"]: step["run"] for step in workflow["jobs"]["build"]["steps"] if "run" in step}


@pytest.mark.parametrize(
    ("tag", "changelog", "words"),
    [
        (f"v{VERSION}", f"## [{VERSION}]\n", ""),
        ("v9.9.9", f"## [{VERSION}]\n", "the tag is v9.9.9"),
        (f"v{VERSION}", "## [Unreleased]\n", "has no section"),
        ("$(touch hacked)", "", "the tag is $(touch hacked)"),
    ],
)
def test_a_release_has_the_version_of_its_tag(tag: str, changelog: str, words: str, tmp_path: Path) -> None:
    (tmp_path / "coherence" / "base").mkdir(parents=True)
    source = (ROOT / "coherence" / "base" / "version.py").read_text(encoding="utf-8")
    (tmp_path / "coherence" / "base" / "version.py").write_text(source, encoding="utf-8")
    (tmp_path / "CHANGELOG.md").write_text(changelog, encoding="utf-8")
    (script,) = [run for name, run in release_steps().items() if name.startswith("The tag")]
    command = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", script]
    done = subprocess.run(
        command, cwd=tmp_path, env={**os.environ, "TAG": tag}, capture_output=True, text=True, check=False
    )
    assert done.returncode == bool(words), done.stderr
    assert words in done.stdout
    assert not (tmp_path / "hacked").exists()


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("uv") is None, reason="no `uv` on this machine")
def test_a_release_has_a_bill_of_materials_and_hashes(tmp_path: Path) -> None:
    for name in ("pyproject.toml", "uv.lock"):
        shutil.copy(ROOT / name, tmp_path)
    (tmp_path / "dist").mkdir()
    (tmp_path / "dist" / "a.whl").write_bytes(b"wheel")
    script = release_steps()["Bill of materials and hashes"].replace("python3 -m pip install --quiet uv\n", "")
    command = ["bash", "-eo", "pipefail", "-c", script]
    subprocess.run(command, cwd=tmp_path, capture_output=True, check=True)
    names = {}
    for kind in ("default", "all"):
        bill = json.loads((tmp_path / "bom" / f"{kind}.cdx.json").read_text(encoding="utf-8"))
        names[kind] = {component["name"] for component in bill["components"]}
    assert closure(()) <= names["default"] < names["all"]
    assert closure(("all",)) <= names["all"]
    required = (tmp_path / "bom" / "requirements.txt").read_text(encoding="utf-8")
    assert required.count("--hash=sha256:") > 20
    digest = hashlib.sha256(b"wheel").hexdigest()
    assert (tmp_path / "bom" / "SHA256SUMS").read_text(encoding="utf-8") == f"{digest}  a.whl\n"


def test_no_script_of_the_release_has_an_expression_in_it() -> None:
    assert not [name for name, script in release_steps().items() if "${{" in script]


@pytest.mark.slow
def test_rendered_manifests_are_checked_from_a_pipe(folder: Path) -> None:
    """`helm template | coherence check -`."""
    manifest = "apiVersion: v1\nkind: Pod\nmetadata: {name: a}\nspec: {containers: [{name: c, image: i}]}\n"
    command = [sys.executable, "-m", "coherence", "check", "-"]
    for text, code in ((CONFLICT, 1), (f"---\n{manifest}---\n{manifest.replace('name: a', 'name: b')}", 0)):
        given = {**os.environ, "PYTHONPATH": str(ROOT)}
        done = subprocess.run(command, input=text, cwd=folder, env=given, capture_output=True, text=True, check=False)
        assert done.returncode == code, done.stderr
