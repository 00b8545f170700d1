"""Claims about calls as scripts: unsat exactly where the sum, by hand, ends within the limit."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coherence.base.errors import InternalError
from coherence.base.solver import unsat
from coherence.language.reading import read_text
from coherence.verify.calls.attempts import NO_PAUSE, DurationInterval, RetryBackoff, RetrySchedule
from coherence.verify.calls.claims import EACH, at_most, bounded_below, bounded_sum, call_ends, term_fits, tries_fit
from coherence.verify.calls.compositions import LONGEST, TimeTerm
from coherence.verify.calls.retry_policies import RetryPolicy, retry_policy_of
from tests.draws import few

SECOND = DurationInterval(Fraction(1), Fraction(1))
DOUBLED = RetryBackoff(SECOND)  # pauses of 1, 2, 4, ... seconds


def holds(script: str) -> bool:
    return unsat(script, timeout_ms=5000).unsat


def least_limit(script: object, limits: range) -> int | None:
    """The least whole limit for which the script is unsat."""
    return next((limit for limit in limits if holds(script(Fraction(limit)))), None)  # type: ignore[operator]


@pytest.mark.parametrize(
    ("tries", "takes", "backoff", "end"),
    [
        ((3,), 2, NO_PAUSE, 6),
        ((1,), 2, DOUBLED, 2),
        ((3,), 2, DOUBLED, 9),  # 3 * 2 + 1 + 2
        ((4,), 1, DOUBLED, 11),  # 4 + 1 + 2 + 4
        ((2, 2), 1, DOUBLED, 7),  # 4 + 1 + 1 + 1: the inner pauses begin anew
        ((EACH,), 1, NO_PAUSE, EACH),
        ((EACH + 1,), 1, NO_PAUSE, EACH + 1),
    ],
)
def test_all_tries_and_pauses_end_within_the_limit(
    tries: tuple[int, ...], takes: int, backoff: RetryBackoff, end: int
) -> None:
    course = RetrySchedule(tries, Fraction(takes), backoff)
    assert least_limit(lambda limit: tries_fit(course, limit), range(end - 2, end + 3)) == end
    assert least_limit(lambda limit: tries_fit(course, limit, strict=True), range(end - 2, end + 3)) == end + 1


@pytest.mark.parametrize("course", [RetrySchedule((None,), Fraction(1), NO_PAUSE), RetrySchedule((3,), None, NO_PAUSE)])
def test_tries_without_a_bound_are_not_claimed_to_end(course: RetrySchedule) -> None:
    with pytest.raises(InternalError, match="have no bound"):
        tries_fit(course, Fraction(10**6))


def test_few_tries_have_variables_of_their_own_and_many_have_sums() -> None:
    few, many = (
        tries_fit(RetrySchedule((count,), Fraction(1), DOUBLED), Fraction(10**6)) for count in (EACH, EACH + 1)
    )
    assert few.count("declare-const try_") == EACH
    assert few.count("declare-const pause_") == EACH - 1
    assert "(<= pause_3 4.0)" in few
    assert many.count("declare-const") == 2
    assert f"(<= all_tries {EACH + 1}.0)" in many
    assert f"(<= all_pauses {2**EACH - 1}.0)" in many


CALLS = """coherence: 1
components: {{app: {{}}, db: {{}}}}
calls: [{{from: app, to: db, {call}}}]
"""


def policy(call: str) -> RetryPolicy:
    (read,) = read_text(CALLS.format(call=call)).calls
    return retry_policy_of(read)


@pytest.mark.parametrize(
    ("call", "longest", "parts"),
    [
        # three tries of 2 s with pauses of 1 s: what fails takes 4 s, what hangs 2 s
        (
            "per_try: 2 s, tries: 3, retry_when: [timeout], pause: 1 s",
            8,
            {"failing_tries": 4, "pauses": 2, "last_try": 2},
        ),
        ("per_try: 2 s, retry_when: [timeout]", 2, {"call": 2}),
        ("per_try: 2 s, deadline: 5 s, tries: 3, retry_when: [timeout]", 5, {"call": 5}),
        (
            "per_try: 2 s, deadline: 9 s, tries: 3, retry_when: [timeout]",
            6,
            {"failing_tries": 4, "pauses": 0, "last_try": 2},
        ),
    ],
)
def test_a_call_ends_by_its_tries_or_by_its_deadline(call: str, longest: int, parts: dict[str, int]) -> None:
    plan = policy(call)
    script = call_ends(plan, Fraction(longest), Fraction(longest + 1))
    assert holds(script)
    assert not holds(call_ends(plan, Fraction(longest), Fraction(longest)))  # it ends before, not at
    assert [line.split()[1] for line in script.splitlines() if line.startswith("(declare-const")] == list(parts)
    for name, most in parts.items():
        assert f"(<= {name} {most}.0)" in script


@pytest.mark.slow
@given(st.lists(st.fractions(0, 5, max_denominator=4), min_size=1, max_size=4), st.fractions(0, 12, max_denominator=4))
@settings(max_examples=few(40), deadline=None)
def test_a_bounded_sum_holds_where_the_bounds_add_up_to_less(bounds: list[Fraction], limit: Fraction) -> None:
    parts = {f"p{n}": bound for n, bound in enumerate(bounds)}
    assert holds(bounded_sum(parts, limit)) is (sum(bounds) < limit)
    assert holds(bounded_sum(parts, limit, "<=")) is (sum(bounds) <= limit)
    assert holds(bounded_below(parts, limit)) is (sum(bounds) > limit)


def test_parts_are_at_least_zero() -> None:
    assert not holds(bounded_sum({"a": Fraction(1)}, Fraction(0), "<="))
    assert "(<= 0.0 a)" in bounded_sum({"a": Fraction(1)}, Fraction(2))
    assert "(+" not in bounded_sum({"a": Fraction(1)}, Fraction(2))


def test_one_stated_worst_case_lies_within_a_limit() -> None:
    assert [holds(at_most(Fraction(2), Fraction(limit))) for limit in (1, 2, 3)] == [False, True, True]


@pytest.mark.slow
@given(
    st.lists(st.lists(st.fractions(0, 5, max_denominator=4), min_size=1, max_size=3), min_size=1, max_size=3),
    st.fractions(0, 12, max_denominator=4),
    st.booleans(),
)
@settings(max_examples=40, deadline=None)
def test_of_calls_at_once_the_longest_counts_and_in_turn_they_add_up(
    stages: list[list[Fraction]], limit: Fraction, strict: bool
) -> None:
    term = LONGEST.in_turn([LONGEST.at_once([TimeTerm(bound) for bound in stage]) for stage in stages])
    end = sum(max(stage) for stage in stages)
    assert term.bound == end
    assert holds(term_fits(term, limit, strict=strict)) is (end < limit if strict else end <= limit)
