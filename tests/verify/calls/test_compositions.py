"""What calls make together: by hand, and laws over random callers."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coherence.language.call_cases import cases_of_callers
from coherence.language.reading import read_text
from coherence.verify.calls.call_graph import Work, call_tree
from coherence.verify.calls.compositions import LONGEST, Algebra, TimeTerm, composed
from tests.draws import few

WORDS: Algebra[str] = Algebra(
    in_turn=lambda parts: f"turn({' '.join(parts)})",
    at_once=lambda parts: f"once({' '.join(parts)})",
    one_of=lambda parts: f"one({' '.join(parts)})",
    after_failure=lambda parts: f"else({' '.join(parts)})",
    in_any_order=lambda parts: f"any({' '.join(parts)})",
    some=lambda parts: f"some({' '.join(parts)})",
)
SPANS = st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), min_size=2, max_size=4)
ORDERS = st.lists(
    st.sampled_from(["", "stage: a", "stage: b", "case: x", "case: y", "case: [x, y]", "stage: a, case: x"]),
    min_size=4, max_size=4,
)  # fmt: skip


@pytest.mark.parametrize(
    ("calls", "together"),
    [
        (["a"], "a"),
        (["a, stage: x"], "a"),
        (["a", "b"], "some(a b)"),
        (["a, stage: x", "b, stage: x"], "once(a b)"),
        (["a, stage: x", "b, stage: y"], "turn(a b)"),
        (["a, stage: x", "b", "c, stage: x"], "turn(once(a c) b)"),
        (["a, case: x", "b, case: y"], "one(a b)"),
        (["a", "b, case: x", "c, case: y"], "one(any(a b) any(a c))"),
        (["a, stage: s", "b, case: x, stage: t", "c, case: y, stage: t"], "one(turn(a b) turn(a c))"),
        (["a", "b, fallback_for: a"], "else(a b)"),
        (["a, stage: s", "b, fallback_for: a", "c, stage: s"], "once(else(a b) c)"),
    ],
)
def test_the_order_of_calls_is_what_they_say(calls: list[str], together: str) -> None:
    text = "coherence: 1\ncalls:\n" + "".join(f"  - {{from: app, to: {call}}}\n" for call in calls)
    cases = cases_of_callers(read_text(text))["app"]
    assert composed(cases, lambda call: str(call.callee), WORDS) == together


def test_what_is_nothing_is_left_out() -> None:
    text = "coherence: 1\ncalls: [{from: app, to: a, stage: s}, {from: app, to: b, stage: s}, {from: app, to: c}]\n"
    cases = cases_of_callers(read_text(text))["app"]
    assert composed(cases, lambda call: None if str(call.callee) == "a" else str(call.callee), WORDS) == "turn(b c)"
    assert composed(cases, lambda _: None, WORDS) is None


def test_a_term_without_a_bound_has_none() -> None:
    parts = [TimeTerm(Fraction(1)), TimeTerm(None)]
    assert [by(parts).bound for by in (LONGEST.in_turn, LONGEST.at_once, LONGEST.one_of)] == [None, None, None]


def work(spans: list[tuple[int, int]], orders: list[str], limit: int = 100) -> Work:
    """Returns the work of a caller of things that need so long, each asked in so ordered a call."""
    takes = ", ".join(f"s{n}: {{takes: {{serve: {a} s .. {a + b} s}}}}" for n, (a, b) in enumerate(spans))
    calls = "".join(
        f"  - {{{', '.join(filter(None, ('from: app', f'to: s{n}', f'deadline: {limit} s', orders[n])))}}}\n"
        for n in range(len(spans))
    )
    return call_tree(read_text(f"coherence: 1\ncomponents: {{{takes}}}\ncalls:\n{calls}")).work["app"]


def ends(of: Work) -> list[Fraction]:
    assert of.answer.bound is not None
    assert of.behind.high is not None
    assert of.longest is not None
    return [of.answer.least, of.answer.most, of.answer.bound, of.behind.low, of.behind.high, of.known, of.longest]


def stated(orders: list[str], count: int) -> list[str]:
    """Returns orders that can be read: cases come in twos."""
    used = orders[:count]
    both = any("x" in order for order in used) and any("y" in order for order in used)
    return used if both else [order if "case" not in order else "" for order in used]


@given(spans=SPANS, orders=ORDERS, which=st.integers(0, 3), more=st.integers(1, 9))
@settings(max_examples=few(60), deadline=None)
def test_no_time_becomes_less_where_a_call_takes_longer(
    spans: list[tuple[int, int]], orders: list[str], which: int, more: int
) -> None:
    said, n = stated(orders, len(spans)), which % len(spans)
    longer = [(a, b + more) if k == n else (a, b) for k, (a, b) in enumerate(spans)]
    later = [(a + more, b) if k == n else (a, b) for k, (a, b) in enumerate(spans)]
    before = ends(work(spans, said))
    assert all(x <= y for x, y in zip(before, ends(work(longer, said)), strict=True))
    assert all(x <= y for x, y in zip(before, ends(work(later, said)), strict=True))


@given(spans=SPANS)
@settings(max_examples=few(40), deadline=None)
def test_at_once_is_no_longer_than_in_turn_and_what_is_not_said_encloses_both(spans: list[tuple[int, int]]) -> None:
    count = len(spans)
    once, turn = work(spans, ["stage: a"] * count), work(spans, [f"stage: a{n}" for n in range(count)])
    open_ = work(spans, [""] * count)
    assert all(x <= y for x, y in zip(ends(once), ends(turn), strict=True))
    assert once.answer.least == max(a for a, _ in spans)
    assert turn.answer.least == sum(a for a, _ in spans)
    assert turn.answer.most == turn.answer.bound == sum(a + b for a, b in spans)
    assert open_.answer.least <= once.answer.least
    assert open_.answer.most <= once.answer.most
    assert open_.answer.bound == turn.answer.bound


@given(span=st.tuples(st.integers(0, 9), st.integers(0, 9)), order=st.sampled_from(["", "stage: a", "case: [x, y]"]))
@settings(max_examples=20, deadline=None)
def test_one_call_at_once_is_one_call_in_turn(span: tuple[int, int], order: str) -> None:
    assert ends(work([span], [order])) == ends(work([span], [""]))


@given(spans=SPANS, orders=ORDERS, limit=st.integers(1, 12))
@settings(max_examples=40, deadline=None)
def test_a_case_takes_no_longer_than_all_calls_in_turn_and_no_less_than_one(
    spans: list[tuple[int, int]], orders: list[str], limit: int
) -> None:
    said = stated(orders, len(spans))
    one, every = work(spans, said, limit), work(spans, [f"stage: a{n}" for n in range(len(spans))], limit)
    assert all(x <= y for x, y in zip(ends(one), ends(every), strict=True))
    assert one.answer.least >= min(min(a, limit) for a, _ in spans)
    assert one.answer.least <= one.answer.most <= (one.answer.bound or 0)
