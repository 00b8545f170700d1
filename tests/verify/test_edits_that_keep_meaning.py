"""Laws of all answers: what does not change the meaning of a design does not change what is found in it."""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Mapping
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bench._verify_cases import disagreeing, drawn
from coherence.checking.design_check import Options, analysis
from coherence.findings.finding import Finding, Verdict
from coherence.language.reading import read_text
from tests import draws
from tests.draws import few
from tests.strategies import Drawn, designs

QUICK = Options(verify_repairs=False)
WORDS = re.compile(r"\bn\d+")
POINTS = re.compile(r"(after|first|every|at_most|turns|deadline|per_try|tries): (\d+)( [mun]?s)?(?! \.\.)")
Key = tuple[str, Verdict, str, frozenset[str]]


def findings(text: str) -> tuple[Finding, ...]:
    return analysis(
        read_text(text), {"<design>": text}, lambda s: read_text(s["<design>"]), options=QUICK
    ).answers.findings


def keys(text: str, names: Mapping[str, str] | None = None) -> set[Key]:
    """Every finding without places, numbers and the order of names."""
    return {(f.code, f.verdict, f.certainty, frozenset(renamed(w, names) for w in f.of)) for f in findings(text)}


def renamed(text: str, names: Mapping[str, str] | None) -> str:
    return WORDS.sub(lambda m: names.get(m[0], m[0]), text) if names else text


def conflicts(text: str) -> set[tuple[str, frozenset[str]]]:
    return {(f.code, frozenset(f.of)) for f in findings(text) if f.verdict is Verdict.CONFLICT}


@pytest.mark.slow
@settings(max_examples=few(20), deadline=None)
@given(designs(), st.sampled_from([Fraction(10), Fraction(1, 100), Fraction(3, 5), Fraction(7, 2), Fraction(10**6)]))
def test_scaling_all_times_keeps_verdicts(drawn: Drawn, scale: Fraction) -> None:
    assert keys(drawn.text(scale=scale)) == keys(drawn.text())


@pytest.mark.slow
@settings(max_examples=few(20), deadline=None)
@given(designs(), st.permutations(["zebra", "x", "again_and_again", "b2", "starting"]))
def test_fresh_names_keep_findings(drawn: Drawn, fresh: list[str]) -> None:
    text = drawn.text()
    names = {f"n{n}": name for n, name in enumerate(fresh)}
    assert keys(renamed(text, names)) == keys(text, names)


@pytest.mark.slow
@settings(max_examples=few(20), deadline=None)
@given(designs())
def test_the_order_of_entries_does_not_matter(drawn: Drawn) -> None:
    assert keys(drawn.text(reverse=True)) == keys(drawn.text())


@pytest.mark.slow
@settings(max_examples=few(20), deadline=None)
@given(designs(size=3), designs(size=2))
def test_what_shares_nothing_changes_nothing(drawn: Drawn, other: Drawn) -> None:
    strange = {f"n{n}": f"strange{n}" for n in range(3)}
    both = Drawn([*drawn.entries, *(lambda t, e=e: _under(e(t), strange) for e in other.entries)])
    apart = keys(drawn.text()) | keys(other.text(), strange)
    text = both.text()
    assert keys(text) == apart
    whole = analysis(read_text(text), {"<design>": text}, lambda s: read_text(s["<design>"]), options=QUICK, cut=False)
    assert whole.answers.findings == findings(text)


def _under(sections: Mapping[str, list[str]], names: Mapping[str, str]) -> dict[str, list[str]]:
    return {section: [renamed(line, names) for line in lines] for section, lines in sections.items()}


def tightened(text: str, draw: random.Random) -> str:
    """One deadline, lease, cap or number of tries promised is half of what it was."""
    keys_ = r"(deadline: |after: |at_most: |misses: |<= )(\d+)"
    found = [m for m in re.finditer(keys_, text) if int(m[2]) > 1 and _is_budget(m[1], _line(text, m.start()))]
    if not found:
        return text
    one = draw.choice(found)
    return f"{text[: one.start(2)]}{int(one[2]) // 2}{text[one.end(2) :]}"


def _is_budget(key: str, line: str) -> bool:
    """The deadline of an inner call is what the outer one has to contain as well: shorter may be better."""
    return "spread" not in line and (key != "deadline: " or "_in, to:" in line)


def _line(text: str, at: int) -> str:
    return text[text.rfind("\n", 0, at) + 1 : text.find("\n", at)]


TIGHTER = ("COH201", "COH202", "COH206", "COH207", "COH209")  # of these the tightened number is a budget


@pytest.mark.slow
@settings(max_examples=few(40), deadline=None)
@given(designs(size=2), st.randoms(use_true_random=False))
def test_a_tighter_budget_removes_no_conflict(drawn: Drawn, draw: random.Random) -> None:
    text = drawn.text()
    tight = tightened(text, draw)
    before = {key for key in conflicts(text) if key[0] in TIGHTER}
    # a deadline that cuts the tries of a call may end the product of sends (COH202): it is no budget of that promise
    kept = {key for key in before if key[0] != "COH202" or "deadline" not in _difference(text, tight)}
    assert {of for _, of in kept} <= {of for _, of in conflicts(tight)}


def _difference(one: str, other: str) -> str:
    at = next((n for n, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), 0)
    return one[max(0, at - 12) : at]


@pytest.mark.slow
@settings(max_examples=few(50), deadline=None)
@given(designs(size=2), st.randoms(use_true_random=False), st.integers(1, 20))
def test_a_conflict_of_a_point_is_not_proved_away_in_a_range(drawn: Drawn, draw: random.Random, width: int) -> None:
    text = drawn.text()
    found = [m for m in POINTS.finditer(text) if " .. " not in text[m.end() : m.end() + 4]]
    if not found:
        return
    one = draw.choice(found)
    low, high = max(1, int(one[2]) - draw.randint(0, width)), int(one[2]) + draw.randint(0, width)
    unit = one[3] or ""
    wide = f"{text[: one.start(2)]}{low}{unit} .. {high}{unit}{text[one.end() :]}"
    proved = {(f.code, frozenset(f.of)) for f in findings(wide) if f.verdict is Verdict.PROVED}
    still = conflicts(wide)
    assert not {key for key in conflicts(text) if key in proved and key not in still}, (text, wide)


def test_the_drawn_designs_have_conflicts_and_proofs() -> None:
    seen = Counter((one.kind, one.broken) for one in drawn(300))
    assert all(seen[kind, broken] >= 5 for kind, _ in seen for broken in (True, False))


@pytest.mark.slow
def test_verdicts_are_those_of_a_simulation() -> None:
    assert not disagreeing(150, seed=2)


@pytest.mark.slow
def test_verdicts_are_those_of_a_simulation_on_many_designs() -> None:
    part = draws.drawn(range(2000), parts=4)
    assert not disagreeing(len(part), seed=3 + part.start)
