"""The action, the hooks and the container file of this repository: their own commands run, on hostile inputs too."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml

from coherence.cli._run import run
from tests.paths import ROOT

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


def test_the_action_annotates_summarises_and_fails(folder: Path) -> None:
    done = checked(folder, SARIF="out.sarif")
    assert done.returncode == 1, done.stderr
    assert done.stdout.startswith("::error col=")
    assert "file=./design.yaml,line=3" in done.stdout
    assert (folder.parent / "step-summary.md").read_text().startswith("# Coherence report")
    assert (folder / "out.sarif").exists()
    assert checked(folder, FAIL_ON="never").returncode == 0
    assert checked(folder, PATHS="absent.yaml").returncode == 2


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
