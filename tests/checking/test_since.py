"""What a change touches and newly breaks, on repositories made here: both states are checked whole."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from coherence.cli._run import run
from tests.checking.git_repositories import Repository

CALL = """coherence: 1
calls:
  - {{from: app, to: api, deadline: {deadline}, per_try: 5 s, tries: 4, retry_when: [timeout]}}
"""
SAFE, BROKEN = CALL.format(deadline="30 s"), CALL.format(deadline="10 s")
DEPLOYMENT = """apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec: {%stemplate: {spec: {containers: [{name: web}]}}}
"""
SCALER = """apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {name: web}
spec:
  scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: web}
  minReplicas: 2
  maxReplicas: 10
"""


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Repository:
    (tmp_path / "work").mkdir()
    monkeypatch.chdir(tmp_path / "work")
    return Repository(tmp_path / "work")


@pytest.fixture
def checked(capsys: pytest.CaptureFixture[str]) -> Any:
    """Returns exit code and report of a check of the working directory since a commit."""

    def check(since: str, *words: str) -> tuple[int, dict[str, Any]]:
        code = run(["check", ".", "--no-cache", "--since", since, "-o", "json", *words])
        printed = capsys.readouterr()
        return code, json.loads(printed.out) if printed.out else {"error": printed.err}

    return check


def test_what_a_change_breaks_is_new_and_what_stood_is_known(repository: Repository, checked: Any) -> None:
    repository.commit(a=BROKEN, b=SAFE)
    assert checked("HEAD")[0] == 0
    (repository.folder / "b.yaml").write_text(BROKEN)
    code, report = checked("HEAD")
    assert code == 1
    assert [(f["code"], f["places"][0]["file"]) for f in report["findings"]] == [("COH201", "b.yaml")]
    assert [f["places"][0]["file"] for f in report["known"]] == ["a.yaml"]
    since = report["since"]
    assert since["files"] == {"b.yaml": [3]}
    assert [(one["how"], one["section"], one["name"]) for one in since["policies"]] == [
        ("changed", "calls", "app -> api")
    ]
    assert (since["known"], since["gone"], since["unread"]) == (1, [], "")


@pytest.mark.slow
def test_a_conflict_with_a_policy_in_an_untouched_file_is_new(repository: Repository, checked: Any) -> None:
    repository.commit(web=DEPLOYMENT % "", scaler=SCALER)
    (repository.folder / "web.yaml").write_text(DEPLOYMENT % "replicas: 3, ")
    code, report = checked("HEAD")
    assert code == 1
    files = {place["file"] for finding in report["findings"] for place in finding["places"]}
    assert {"web.yaml", "scaler.yaml"} <= files
    assert list(report["since"]["files"]) == ["web.yaml"]


@pytest.mark.slow
def test_an_annotation_stands_at_the_line_that_changed(
    repository: Repository, capsys: pytest.CaptureFixture[str]
) -> None:
    repository.commit(web=DEPLOYMENT % "", scaler=SCALER)
    (repository.folder / "web.yaml").write_text(DEPLOYMENT % "replicas: 3, ")
    assert run(["check", ".", "--no-cache", "--since", "HEAD", "-o", "github"]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert lines
    assert all("file=web.yaml,line=4" in line for line in lines)


def test_a_repair_is_told_as_gone(repository: Repository, checked: Any) -> None:
    repository.commit(a=BROKEN)
    (repository.folder / "a.yaml").write_text(SAFE)
    code, report = checked("HEAD")
    assert code == 0
    (gone,) = report["since"]["gone"]
    assert (gone["code"], gone["verdict"], gone["of"], gone["count"]) == ("COH201", "conflict", ["app -> api"], 1)


def test_it_is_compared_with_the_commit_at_which_the_branch_left(repository: Repository, checked: Any) -> None:
    repository.commit(a=BROKEN)
    repository.git("checkout", "-q", "-b", "feature")
    repository.commit(b=SAFE)
    repository.git("checkout", "-q", "main")
    repository.commit(a=SAFE)  # repaired on main, after the branch left it
    repository.git("checkout", "-q", "feature")
    code, report = checked("main")
    assert (code, report["since"]["left"]) == (0, True)
    assert list(report["since"]["files"]) == ["b.yaml"]
    assert len(report["known"]) == 1


def test_branches_without_a_common_commit_are_compared_themselves(repository: Repository, checked: Any) -> None:
    repository.commit(a=BROKEN)
    repository.git("checkout", "-q", "--orphan", "other")
    repository.commit(a=BROKEN, b=BROKEN)
    code, report = checked("main")
    assert (code, report["since"]["left"]) == (1, False)
    assert len(report["known"]) == len([f for f in report["findings"] if f["verdict"] == "conflict"]) == 1


@pytest.mark.slow
def test_the_same_names_from_a_folder_below_and_from_outside(
    repository: Repository, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (repository.folder / "inner").mkdir()
    repository.commit(**{"inner/a": BROKEN, "b": BROKEN})
    monkeypatch.chdir(repository.folder / "inner")
    for paths in (["."], ["..", "."], ["a.yaml"], [str(repository.folder)]):
        assert run(["check", *paths, "--no-cache", "--since", "HEAD"]) == 0
    monkeypatch.chdir("/")
    assert run(["check", str(repository.folder), "--no-cache", "--since", "HEAD"]) == 0
    assert "0 files differ" in capsys.readouterr().out


def test_where_nothing_stood_every_finding_is_new(repository: Repository, checked: Any) -> None:
    repository.commit()
    (repository.folder / "a.yaml").write_text(BROKEN)
    code, report = checked("HEAD")
    assert (code, len(report["known"])) == (1, 0)
    assert report["since"]["unread"] == "none of these paths stood there"
    repository.commit(a="coherence: 1\nloops: [\n")
    (repository.folder / "a.yaml").write_text(BROKEN)
    code, report = checked("HEAD")
    assert code == 1
    assert "a.yaml" in report["since"]["unread"]
    assert "coherence-since" not in report["since"]["unread"]


def test_a_baseline_counts_beside_it(repository: Repository, checked: Any, capsys: pytest.CaptureFixture[str]) -> None:
    def write_baseline() -> None:
        assert run(["baseline", "write", "."]) == 0
        capsys.readouterr()

    repository.commit(a=BROKEN, b=SAFE)
    write_baseline()
    (repository.folder / "b.yaml").write_text(BROKEN.replace("app", "shop"))
    code, report = checked("HEAD", "--baseline", ".coherence-baseline.json")
    assert (code, report["counts"]["baseline"]) == (1, {"known": 1, "new": 1, "gone": 0})
    (repository.folder / "b.yaml").write_text(BROKEN)
    write_baseline()
    assert checked("HEAD", "--baseline", ".coherence-baseline.json")[0] == 0


def test_a_link_that_leaves_the_repository_is_not_followed(repository: Repository, checked: Any) -> None:
    outside = repository.folder.parent / "outside.yaml"
    outside.write_text(BROKEN)
    (repository.folder / "link.yaml").symlink_to("../outside.yaml")
    repository.commit(a=SAFE)
    code, report = checked("HEAD")
    assert code == 1  # today's file is read through it, and the commit holds the link alone
    assert list(report["since"]["files"]) == ["link.yaml"]
