"""`check --fix` and `--diff`: the smallest repair of whole files, proved before it is written, and nothing else."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coherence.base.clock import now
from coherence.base.places import Place
from coherence.base.watchdog import current_run
from coherence.checking.reports import check
from coherence.cli._run import run
from coherence.exploring import fixing
from coherence.exploring.fixing import combined, fix, weight
from coherence.findings.finding import Edit, Finding, Repair, Severity, Verdict
from coherence.language.reading import read_text
from tests.findings.test_repairs import ROUTE

DESIGN = """# a design of ours
coherence: 1
calls:
  # the slow one
  - {from: app, to: api, deadline: 10 s, per_try: 5 s,   tries: 4, retry_when: [timeout]}   # keep me
"""


def conflicts(path: Path) -> list[Finding]:
    return [f for f in check(path).findings if f.verdict is Verdict.CONFLICT]


@pytest.fixture
def design(tmp_path: Path) -> Path:
    path = tmp_path / "design.yaml"
    path.write_text(DESIGN)
    return path


def test_a_fix_changes_one_number_and_nothing_else(design: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["check", "--fix", str(design)]) == 0
    assert design.read_text() == DESIGN.replace("per_try: 5 s", "per_try: 2 s")
    said = capsys.readouterr()
    assert "per_try: 5 s -> 2 s" in said.err
    assert "1 conflict removed in 1 file, 0 left" in said.err
    assert not conflicts(design)


def test_a_second_fix_does_nothing(design: Path) -> None:
    run(["check", "--fix", str(design)])
    once, stamp = design.read_bytes(), design.stat().st_mtime_ns
    run(["check", "--fix", str(design)])
    assert (design.read_bytes(), design.stat().st_mtime_ns) == (once, stamp)


def test_a_diff_writes_nothing_and_is_what_fix_writes(design: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["check", "--diff", str(design)]) == 1
    diff = capsys.readouterr().out
    assert design.read_text() == DESIGN
    patch = shutil.which("patch") or pytest.skip("no patch on this machine")
    done = subprocess.run(
        [patch, "-p0", str(design)], input=diff, text=True, capture_output=True, check=False, cwd=design.parent
    )
    assert done.returncode == 0, done.stdout + done.stderr
    patched = design.read_text()
    design.write_text(DESIGN)
    run(["check", "--fix", str(design)])
    assert design.read_text() == patched


@pytest.mark.parametrize(
    ("encode", "end"),
    [("utf-8", "\r\n"), ("utf-8-sig", "\n"), ("utf-16", "\r\n"), ("utf-8", "\n")],
)
def test_encoding_and_line_ends_stay(design: Path, encode: str, end: str) -> None:
    text = DESIGN.replace("a design of ours", "ein Entwurf für uns").replace("\n", end)
    design.write_bytes(text.encode(encode))
    run(["check", "--fix", str(design)])
    assert design.read_bytes() == text.replace("per_try: 5 s", "per_try: 2 s").encode(encode)


def test_a_manifest_keeps_its_spelling(tmp_path: Path) -> None:
    path = tmp_path / "route.yaml"
    text = ROUTE.replace("4s}", "4s, retryOn: 5xx}  # agreed")
    path.write_text(text)
    assert conflicts(path)
    run(["check", "--fix", str(path)])
    assert path.read_text() == text.replace("perTryTimeout: 4s", "perTryTimeout: 1500ms")
    assert not conflicts(path)


def test_two_conflicts_share_one_edit(tmp_path: Path) -> None:
    path = tmp_path / "design.yaml"
    text = (
        "coherence: 1\ncalls:\n"
        "  - {from: a, to: b, tries: 4}\n  - {from: b, to: c, tries: 4}\n"
        "promises:\n  few: attempts(c) per call(a) <= 12\n  fewer: attempts(c) per call(a) <= 9\n"
    )
    path.write_text(text)
    assert len(conflicts(path)) == 2
    run(["check", "--fix", str(path)])
    before, after = text.split("\n"), path.read_text().split("\n")
    assert sum(one != other for one, other in zip(before, after, strict=True)) == 1
    assert not conflicts(path)


def test_silenced_and_known_findings_are_left_alone(design: Path, tmp_path: Path) -> None:
    silenced = DESIGN.replace("# keep me", "# coherence: ignore[COH201] -- agreed with the provider")
    design.write_text(silenced)
    run(["check", "--fix", str(design)])
    assert design.read_text() == silenced
    design.write_text(DESIGN)
    baseline = tmp_path / "known.json"
    assert run(["baseline", "write", str(design), "-f", str(baseline)]) == 0
    assert run(["check", "--fix", str(design), "--baseline", str(baseline)]) == 0
    assert design.read_text() == DESIGN


def test_what_has_no_repair_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "design.yaml"
    text = (
        "coherence: 1\nloops:\n"
        "  hpa: {uses: kubernetes_hpa, target: {signal: a.q, setpoint: 1}, actuation: {signal: a.n, bounds: [1, 2]}}\n"
        "  ray: {uses: kubernetes_hpa, target: {signal: a.q, setpoint: 5}, actuation: {signal: a.n, bounds: [1, 2]}}\n"
    )
    path.write_text(text)
    assert run(["check", "--fix", str(path)]) == 1
    assert path.read_text() == text
    assert "not repaired" in capsys.readouterr().err


@pytest.mark.slow
def test_what_is_written_is_proved(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "design.yaml"
    text = (
        "coherence: 1\ncomponents: {node: {cpu: 8}, app: {asked: 15, usage: app.asked / (node.n * node.cpu)}}\nloops:\n"
        "  down: {timescale: {period: 10 min}, trigger: app.usage < 50 %,"
        " actuation: {signal: node.n, law: step, by: -3, bounds: [1, 10], from: 4}}\n"
        "  up: {timescale: {period: 10 s}, trigger: app.usage > 100 %,"
        " actuation: {signal: node.n, law: step, by: 3, bounds: [1, 10], from: 4}}\n"
    )
    path.write_text(text)
    assert run(["check", "--fix", str(path)]) == 0
    assert path.read_text() != text
    assert "candidates, which no proof supports" not in capsys.readouterr().err
    assert run(["check", str(path)]) == 0


def test_repairs_in_json_and_sarif_are_edits_that_fit(design: Path, tmp_path: Path) -> None:
    run(["check", str(design), "-o", f"json={tmp_path / 'o.json'}", "-o", f"sarif={tmp_path / 'o.sarif'}"])
    (finding,) = [f for f in json.loads((tmp_path / "o.json").read_text())["findings"] if f["verdict"] == "conflict"]
    told = [[(e["old"], e["new"]) for e in repair["edits"]] for repair in finding["repairs"] if repair["proved"]]
    run(["check", "--fix", str(design)])
    assert [("5 s", "2 s")] in told
    results = json.loads((tmp_path / "o.sarif").read_text())["runs"][0]["results"]
    texts = [
        replacement["insertedContent"]["text"]
        for result in results
        for one in result.get("fixes", ())
        for change in one["artifactChanges"]
        for replacement in change["replacements"]
    ]
    assert texts == [edit["new"] for repair in finding["repairs"] for edit in repair["edits"]]


CALLS = st.lists(
    st.tuples(st.integers(1, 12), st.integers(1, 8), st.integers(1, 6)), min_size=1, max_size=3
)  # deadline, per_try, tries of a chain of calls


@pytest.mark.slow
@settings(max_examples=15, deadline=None)
@given(CALLS)
def test_no_fix_adds_a_finding_and_a_second_one_is_empty(calls: list[tuple[int, int, int]]) -> None:
    lines = [
        f"  - {{from: s{k}, to: s{k + 1}, deadline: {d} s, per_try: {p} s, tries: {n}, retry_when: [timeout]}}  # {k}\n"
        for k, (d, p, n) in enumerate(calls)
    ]
    text = "coherence: 1\ncalls:\n" + "".join(lines)
    rebuild = lambda sources: read_text(sources["d"], "d")  # noqa: E731
    keep = lambda _, found: found  # noqa: E731
    before = fixing._ask({"d": text}, rebuild, 5.0).findings
    fixed = fix({"d": text}, rebuild, keep, time_limit=5.0)
    after = fixing._ask(fixed.sources, rebuild, 5.0).findings
    loud = [{(f.code, f.of) for f in found if f.severity is not Severity.INFO} for found in (before, after)]
    assert loud[1] <= loud[0]
    assert len([f for f in after if f.verdict is Verdict.CONFLICT]) == len(fixed.left)
    assert not fix(fixed.sources, rebuild, keep, time_limit=5.0).rounds
    assert fixed.sources["d"].count("# ") == len(calls)


def edit(old: str, new: str, column: int = 1) -> Edit:
    return Edit(Place("f", 1, column, 1, column + len(old)), old, new)


def test_weights_and_combinations() -> None:
    assert weight([edit("4", "3")]) == Fraction(1, 4)
    assert weight([edit("4", "1")]) > weight([edit("4", "2")]) + 1  # it turns the policy off
    assert weight([edit("", ", per_try: 1 s")]) == 1
    assert weight([edit("1 min", "90 s")]) == Fraction(1, 2)
    near, far, away = (Repair((edit("10 s", new),), "") for new in ("8 s", "5 s", "20 s"))
    assert combined([near, far]) == far.edits
    assert combined([near, away]) is None


def test_a_number_is_turned_before_a_timer_runs_from_the_event_that_ends_it() -> None:
    text = (
        "coherence: 1\ncomponents: {server: {takes: {load: 3 min .. 10 min}}}\ntimers:\n"
        "  live: {from: server starts, first: 120 s, every: 10 s, misses: 3, unless: server.load ends,"
        " then: restart server}\n"
    )
    done = fix(
        {"design.yaml": text}, lambda sources: read_text(sources["design.yaml"], "design.yaml"), lambda _, found: found
    )
    assert not done.left
    assert "from: server starts" in done.sources["design.yaml"]


def test_a_fix_ends_at_its_time_limit_and_changes_nothing_that_was_asked_after_it(
    design: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The time is over while the last changes are tried: what is asked then is no answer about them."""
    before, covers = design.read_text(), fixing._covers

    def over(*words: Any) -> Iterator[Any]:
        current_run().end = now()
        return covers(*words)

    monkeypatch.setattr(fixing, "_covers", over)
    assert run(["check", "--diff", str(design)]) == 1
    said = capsys.readouterr()
    assert "the time limit was reached before every change was tried" in said.err
    assert "0 conflicts would be removed in 0 files" in said.err
    assert design.read_text() == before
