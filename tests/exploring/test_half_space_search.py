"""Half-spaces of parameters against closed formulas and grids; none where more than sums is looked at."""

from __future__ import annotations

import itertools
import json
from fractions import Fraction
from pathlib import Path

import pytest

from coherence.base.solver import recheck, unsat
from coherence.checking.answers import ask_all
from coherence.cli._run import run
from coherence.exploring.box_answers import edit_of
from coherence.exploring.half_spaces import Form, inside, row, uncovered
from coherence.exploring.regions import region
from coherence.exploring.render_half_spaces import Beside, beside, in_text, in_words
from coherence.exploring.swept_numbers import axes
from coherence.findings import repairs
from coherence.findings.finding import Verdict
from coherence.findings.question_input import Subject
from coherence.findings.registry import question_modules
from coherence.language.reading import read_text

F = Fraction
CALL = (
    "coherence: 1\ncalls:\n"
    "  - {from: a, to: b, deadline: 10 s, per_try: 3 s, tries: 3, pause: 1 s, retry_when: [timeout]}\n"
)
OWN = [module for module in question_modules() if module.questions[0].code == "COH201"]


def made(*parameters: str, text: str = CALL) -> tuple[Beside, ...]:
    sources = {"d": text}
    found = region(parameters, sources, lambda s: read_text(s["d"], "d"), OWN, most_asks=30)
    return beside(found, parameters, sources, lambda s: read_text(s["d"], "d"), OWN, time_limit=20)


@pytest.mark.slow
def test_the_share_that_is_followed_is_told_and_ascends() -> None:
    sources, shares = {"d": CALL}, list[float]()
    ranges = ("calls.0.per_try=100 ms:9 s", "calls.0.tries=2:3")
    found = region(ranges, sources, lambda s: read_text(s["d"], "d"), OWN, most_asks=10)
    beside(found, ranges, sources, lambda s: read_text(s["d"], "d"), OWN, time_limit=20, bar=shares.append)
    assert shares == sorted(shares)
    assert 0 < shares[0] < 0.5 < shares[-1] <= 1


def conflict(values: dict[str, str], text: str = CALL) -> bool:
    """Does any question of the family find a conflict with these values?"""
    sources = {"d": text}
    chosen = axes([f"{key}={value}:1e9" for key, value in values.items()], sources)
    edited = repairs.apply([edit_of(axis, (min(axis.values),) * 2) for axis in chosen], sources)
    assert edited is not None
    found = ask_all(Subject(read_text(edited["d"], "d"), edited, 20), OWN)
    return any(finding.verdict is Verdict.CONFLICT for finding in found)


@pytest.mark.slow
def test_three_numbers_give_the_inequality_of_the_closed_form() -> None:
    (only,) = made("calls.0.deadline=1:20", "calls.0.per_try=100 ms:9 s", "calls.0.pause=0 s:3 s")
    (found,) = only.result.sets
    assert in_text([only]) == [
        "safe, proved: calls.0.deadline >= 3 * calls.0.per_try + 2 * calls.0.pause; a conflict just beyond"
    ]
    assert found.tight
    assert unsat(found.certificate, timeout_ms=5000).unsat


@pytest.mark.slow
def test_every_point_of_a_grid_is_safe_inside_and_in_conflict_outside() -> None:
    (only,) = made("calls.0.deadline=4:12", "calls.0.per_try=1:4")
    (found,) = only.result.sets
    for deadline, each in itertools.product(range(4, 13), (F(k, 2) for k in range(2, 9))):
        broken = conflict({"calls.0.deadline": str(deadline), "calls.0.per_try": str(float(each))})
        assert broken is not inside(found.rows, (F(deadline), each)), (deadline, each)
        assert broken is (3 * each + 2 > deadline)


@pytest.mark.slow
def test_an_edge_with_no_end_in_decimals_is_exact() -> None:
    (only,) = made("calls.0.per_try=100 ms:9 s")
    assert in_text([only]) == ["safe, proved: calls.0.per_try <= 8/3 s; a conflict just beyond"]


@pytest.mark.slow
def test_numbers_that_count_are_fixed_one_after_the_other() -> None:
    found = made("calls.0.per_try=1 s:9 s", "calls.0.tries=2:4")
    assert [one.fixed for one in found] == [(("calls.0.tries", str(n)),) for n in (2, 3, 4)]
    edges = [one.result.sets[0].rows[0] for one in found]
    assert [-e.form.constant / e.form.coefficients[0] for e in edges] == [F(9, 2), F(8, 3), F(7, 4)]


@pytest.mark.slow
def test_two_borders_give_their_intersection() -> None:
    text = CALL + "  - {from: c, to: d, deadline: 4 s, per_try: 1 s, tries: 2, pause: 1 s, retry_when: [timeout]}\n"
    (only,) = made("calls.0.per_try=1 s:4 s", "calls.1.per_try=500 ms:3 s", text=text)
    (found,) = only.result.sets
    assert found.tight
    for one, other in itertools.product((F(k, 4) for k in range(4, 17)), (F(k, 4) for k in range(2, 13))):
        assert inside(found.rows, (one, other)) is (3 * one + 2 <= 10 and 2 * other + 1 <= 4)


def test_growing_pauses_are_counted_by_logarithms_and_get_none() -> None:
    text = CALL.replace("pause: 1 s", "pause: {base: 1 s, cap: 3 s}").replace("deadline: 10 s", "deadline: 12 s")
    (only,) = made("calls.0.pause.base=1 s:3 s", "calls.0.per_try=1 s:4 s", text=text)
    assert not only.result.sets
    assert "more than sums" in only.result.reason


@pytest.mark.slow
def test_a_factor_is_more_than_sums_and_gets_none() -> None:
    text = CALL.replace("pause: 1 s", "pause: {base: 1 s, factor: 2}")
    (only,) = made("calls.0.pause.factor=1.5:3", "calls.0.pause.base=1 s:3 s", text=text)
    assert not only.result.sets
    assert only.result.reason


def test_where_nothing_is_at_stake_nothing_is_sought() -> None:
    assert made("calls.0.per_try=1 s:2 s") == ()


def test_a_union_that_leaves_a_point_out_is_no_cover() -> None:
    """Two triangles of a square without their common border."""
    x_y = Form((F(1), F(-1)), F(0))
    below, above = (row(x_y, "<"),), (row(x_y.times(F(-1)), "<"),)
    square = ((F(0), F(1)), (F(0), F(1)))
    assert not unsat(uncovered((), square, [below, above]), timeout_ms=1000).unsat
    assert unsat(uncovered((), square, [below, above, (row(x_y, "=="),)]), timeout_ms=1000).unsat


@pytest.mark.slow
def test_cvc5_agrees() -> None:
    pytest.importorskip("cvc5")
    (only,) = made("calls.0.deadline=1:20", "calls.0.per_try=100 ms:9 s")
    assert recheck(only.result.sets[0].certificate).unsat


def test_words_put_what_must_be_large_on_the_left() -> None:
    chosen = axes(["calls.0.deadline=1:20", "calls.0.per_try=1:9"], {"d": CALL})
    assert in_words(row(Form((F(-1), F(3)), F(2)), "<="), chosen) == "calls.0.deadline >= 3 * calls.0.per_try + 2 s"
    assert in_words(row(Form((F(2), F(3)), F(-9)), "<"), chosen) == ("calls.0.deadline + 1.5 * calls.0.per_try < 4.5 s")
    assert in_words(row(Form((F(-3), F(0)), F(-2)), "<"), chosen) == "calls.0.deadline > -2/3 s"


@pytest.mark.slow
def test_the_command_tells_them_and_can_leave_them_out(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "d.yaml"
    path.write_text(CALL)
    words = ["region", str(path), "-p", "calls.0.deadline=4:12", "-p", "calls.0.per_try=1:4", "--select", "COH201"]
    words += ["--asks", "20"]
    assert run(words) == 0
    assert "safe, proved: calls.0.deadline >= 3 * calls.0.per_try + 2 s" in capsys.readouterr().out
    assert run([*words, "-o", "json"]) == 0
    (found,) = json.loads(capsys.readouterr().out)["half_spaces"]
    assert found["rows"][0]["coefficients"] == {"calls.0.deadline": "-1", "calls.0.per_try": "3"}
    assert found["rows"][0]["constant"] == "2"
    assert run([*words, "-o", "json", "--no-half-spaces"]) == 0
    assert json.loads(capsys.readouterr().out)["half_spaces"] == []
