"""`coherence diff` and `coherence.diff`: two designs, two environments, what is refused, what is printed."""

from __future__ import annotations

import json
from html import unescape
from pathlib import Path

import pytest

import coherence as co
from coherence.base.errors import UsageError
from coherence.cli._run import run
from tests.checking.git_repositories import Repository

DESIGN = """\
coherence: 1
components: {web: {copies: 2}, shop: {copies: 3, takes: {serve: 10 ms .. 20 ms}}}
calls:
  - {from: web, to: shop, deadline: 1 s, per_try: 300 ms, tries: 2}
environments:
  near:
  far: {calls: [{from: web, to: shop, per_try: 800 ms}]}
"""
BEFORE = DESIGN[: DESIGN.index("environments")]
AFTER = BEFORE.replace("300 ms", "800 ms")


def test_two_designs_and_two_environments_are_compared_alike() -> None:
    designs = co.diff(BEFORE, AFTER, select="COH2")
    environments = co.diff(DESIGN, select="COH2")
    assert designs.data["verdicts"] == environments.data["verdicts"]
    (row,) = environments.data["verdicts"]
    assert (row["code"], row["before"], row["after"]) == ("COH201", "proved", "conflict (possible)")
    assert row["causes"] == [["calls.web -> shop.per_try: 300 ms -> 800 ms"]]
    assert [change.code for change in environments.new_conflicts] == ["COH201"]
    assert environments.to_frame()["causes"].tolist() == ["calls.web -> shop.per_try: 300 ms -> 800 ms"]


def test_environments_can_be_named_and_turned_round() -> None:
    back = co.diff(DESIGN, environments=("far", "near"), select="COH201")
    assert (back.data["before"], back.new_conflicts) == ("<design> in far", ())
    assert co.read(DESIGN, environment="far").environment == "far"


@pytest.mark.parametrize(
    ("sources", "environments", "message"),
    [
        ((BEFORE,), (), "name a second design, or two of its environments"),
        ((DESIGN,), ("near",), "name a second design"),
        ((BEFORE, AFTER), ("a", "b", "c"), "two environments at most"),
    ],
)
def test_what_cannot_be_compared_is_refused(
    sources: tuple[str, ...], environments: tuple[str, ...], message: str
) -> None:
    with pytest.raises(UsageError, match=message):
        co.diff(*sources, environments=environments)


def test_floors_that_differ_are_listed() -> None:
    loop = (
        "coherence: 1\ncomponents: {pool: {desired: 1 .. 9, load: 4, util: load / desired}}\nloops:\n  hpa:\n"
        "    target: {signal: pool.util, setpoint: 50 %}\n    timescale: {period: 15 s, phase: 0 s}\n"
        "    actuation: {signal: pool.desired, from: 2, bounds: [1, 9]}\n"
    )
    floors = co.diff(loop, loop.replace("phase: 0 s", "phase: 0 s, lands: 20 s"), ignore="COH").floors
    assert [(floor.thing, floor.before != floor.after) for floor in floors if floor.name == "recovery_time"] == [
        ("hpa", True)
    ]


def test_the_command_exits_1_at_a_new_conflict(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "d.yaml"
    file.write_text(DESIGN, encoding="utf-8")
    assert run(["diff", str(file), "-s", "COH201"]) == 1
    text = capsys.readouterr().out
    assert "COH201 of web -> shop: proved -> conflict (possible)" in text
    assert "because of calls.web -> shop.per_try: 300 ms -> 800 ms" in text
    assert text.endswith("1 verdict changed (1 to a conflict), 1 alike\n")
    assert run(["diff", str(file), "--in", "far", "--in", "near", "-s", "COH201", "-o", "json"]) == 0
    assert json.loads(capsys.readouterr().out)["after"] == f"{file} in near"
    assert run(["check", str(file), "--in", "near", "-s", "COH201"]) == 0
    assert run(["check", str(file), "--fix"]) == 2
    assert "choose it by `--in`: near, far" in capsys.readouterr().err
    assert run(["graph", str(file), "-o", "svg"]) == 2
    assert run(["rules", "--in", "near"]) == 2


def test_a_design_is_compared_with_what_stood_at_a_commit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "work").mkdir()
    monkeypatch.chdir(tmp_path / "work")
    repository = Repository(tmp_path / "work")
    repository.commit(d=BEFORE)
    repository.commit(d=AFTER)
    assert run(["diff", "--since", "HEAD~1", "d.yaml", "-s", "COH201", "-o", "json=a.json"]) == 1
    assert run(["diff", "HEAD.yaml", "--since", "HEAD~1"]) == 2
    data = json.loads(Path("a.json").read_text(encoding="utf-8"))
    direct = co.diff(BEFORE, AFTER, select="COH201").data
    assert [row["causes"] for row in data["verdicts"]] == [row["causes"] for row in direct["verdicts"]] != []
    assert data["before"].startswith("d.yaml at ")
    assert data["values"][0]["file"] == "d.yaml"
    capsys.readouterr()
    assert run(["diff", "--since", "HEAD", "d.yaml", "-s", "COH201"]) == 0
    assert "0 verdicts changed" in capsys.readouterr().out
    assert run(["report", "--since", "HEAD~1", "d.yaml", "-o", "r.html", "--no-cache"]) == 0
    page = Path("r.html").read_text(encoding="utf-8")
    assert "coherence diff --since 'HEAD~1' d.yaml" in unescape(page)
    assert str(tmp_path) not in page
    with pytest.raises(UsageError, match="goes with one path"):
        co.diff(BEFORE, since="HEAD")


def test_markdown_is_a_table_of_each_kind_and_shows_a_hostile_name_as_words(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("a.yaml").write_text(BEFORE, encoding="utf-8")
    Path("[b](c)|<i>.yaml").write_text(AFTER, encoding="utf-8")
    assert run(["diff", "a.yaml", "[b](c)|<i>.yaml", "-s", "COH201", "-o", "markdown"]) == 1
    shown = capsys.readouterr().out
    assert "1 verdict changed (1 to a conflict), 1 alike." in shown
    assert "| new conflict | COH201 | web -&gt; shop | proved | conflict (possible) | calls.web -&gt; shop" in shown
    assert "## Values that differ" in shown
    assert "<i>" not in shown
    assert "](" not in shown.replace("\\]", "")
    rows = [line for line in shown.splitlines() if line.startswith("|")]
    assert {line.replace("\\|", "").count("|") for line in rows} == {3, 8}
