"""Answers at a point with traced numbers: the same as without, and the same at every point that they speak of."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coherence.exploring.half_spaces import inside
from coherence.exploring.swept_numbers import axes
from coherence.exploring.traced_answers import Followed, NotTracedError, ParametricDesign, followed, plain
from coherence.exploring.traced_numbers import Traced
from coherence.findings.registry import question_modules
from coherence.language.reading import read_text
from tests.draws import few

F = Fraction
CALL = (
    "coherence: 1\ncalls:\n"
    "  - {from: a, to: b, deadline: 10 s, per_try: 3 s, tries: 3, pause: 1 s, retry_when: [timeout]}\n"
)
OWN = [module for module in question_modules() if module.questions[0].code == "COH201"]
DEADLINE, PER_TRY, PAUSE = "calls.0.deadline=1:20", "calls.0.per_try=1:9", "calls.0.pause=0:3"


def source(*parameters: str, text: str = CALL) -> ParametricDesign:
    sources = {"d": text}
    return ParametricDesign(sources, lambda edited: read_text(edited["d"], "d"), axes(parameters, sources), 20)


def conflict(of: ParametricDesign, *point: Fraction | int) -> bool:
    return plain(of, OWN, tuple(map(F, point))).conflict


def at(of: ParametricDesign, point: Sequence[Fraction | int], *, generic: bool = False) -> Followed:
    return followed(of, OWN, tuple(map(F, point)), generic=generic)


@pytest.mark.parametrize(
    ("deadline", "per_try", "pause", "broken"),
    [(11, 3, 1, False), (F(109, 10), 3, 1, True), (10, 3, F(1, 2), False), (10, 3, F(51, 100), True), (20, 9, 0, True)],
)
def test_three_tries_and_two_pauses_must_fit(
    deadline: Fraction, per_try: Fraction, pause: Fraction, broken: bool
) -> None:
    assert conflict(source(DEADLINE, PER_TRY, PAUSE), deadline, per_try, pause) is broken


def test_a_number_without_an_end_in_decimals_is_put_in_exactly() -> None:
    """3 * 8/3 + 2 = 10 just fits; any decimal near 8/3 would lie on one side of it."""
    of = source(PER_TRY)
    assert not conflict(of, F(8, 3))
    assert conflict(of, F(8, 3) + F(1, 10**30))
    assert not conflict(of, F(8, 3) - F(1, 10**30))


def test_the_rows_of_an_answer_are_the_side_on_which_the_point_lies() -> None:
    of = source(DEADLINE, PER_TRY, PAUSE)
    for point, broken in (((11, 3, 1), False), ((10, 3, 1), True)):
        answer = at(of, point)
        assert answer.answer.conflict is broken
        assert inside((*answer.rows, *answer.pins), tuple(map(F, point)))
        assert bool(answer.pinned) is broken  # sums alone decide it; a repair of a conflict spells the numbers


GRID = st.tuples(*(st.integers(low * 4, high * 4).map(lambda n: F(n, 4)) for low, high in ((1, 20), (1, 9), (0, 3))))


@settings(max_examples=few(15), deadline=None)
@given(GRID, st.lists(GRID, min_size=3, max_size=3))
def test_every_point_of_the_same_polyhedron_has_the_same_answer(
    point: tuple[Fraction, ...], others: list[tuple[Fraction, ...]]
) -> None:
    of = source(DEADLINE, PER_TRY, PAUSE)
    answer = at(of, point)
    deadline, per_try, pause = point
    assert answer.answer.conflict is (3 * per_try + 2 * pause > deadline)
    for other in others:
        if inside((*answer.rows, *answer.pins), other):
            assert plain(of, OWN, other) == answer.answer


def test_a_number_that_stands_twice_by_chance_is_none_of_a_generic_point() -> None:
    """At 3 s the deadline of the other call has the same value; nothing says that it is not a copy."""
    of = source(PER_TRY, text=CALL + "  - {from: a, to: c, deadline: 7/2 s}\n".replace("7/2", "3.5"))
    assert at(of, [F(7, 2)]).answer.conflict
    with pytest.raises(NotTracedError, match=r"calls\.0\.per_try is kept in another place as well"):
        at(of, [F(7, 2)], generic=True)
    assert at(of, [F(29, 10)], generic=True).answer.conflict


def test_the_answer_for_two_tries_says_nothing_of_three() -> None:
    answer = at(source("calls.0.tries=2:4"), [2])
    assert not answer.answer.conflict
    assert inside((*answer.rows, *answer.pins), (F(2),))
    assert not inside((*answer.rows, *answer.pins), (F(3),))


def test_a_key_that_cannot_be_edited_is_not_traced() -> None:
    of = source(PER_TRY, text=CALL.replace("per_try: 3 s", 'per_try: "3 s"'))
    with pytest.raises(NotTracedError, match="quoted or stands on several lines"):
        plain(of, OWN, (F(2),))


def test_a_value_that_is_no_design_is_not_traced() -> None:
    with pytest.raises(NotTracedError, match="-1' is below 0"):
        plain(source("calls.0.tries=2:4"), OWN, (F(-1),))


def test_the_design_of_the_user_keeps_its_own_numbers() -> None:
    design = read_text(CALL, "d")
    of = ParametricDesign({"d": CALL}, lambda _: design, axes([PER_TRY], {"d": CALL}), 20)
    with pytest.raises(NotTracedError):
        at(of, [F(5, 2)])  # it reads 3 s, whatever is written
    assert at(of, [3]).answer.conflict
    assert not any(isinstance(value, Traced) for value in vars(design.calls[0].per_try).values())
