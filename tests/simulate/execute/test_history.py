"""What a run remembers of its past, and when two pasts are alike."""

from __future__ import annotations

import bisect
import random
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coherence.simulate.execute.affine import Affine
from coherence.simulate.execute.history import History, HistoryMark, Landing, frozen, landing_key
from coherence.simulate.execute.motion import Course


def remembered(horizon: Fraction | None, times: list[int], level: int = 0) -> History:
    history = History(horizon)
    for time in times:
        history.remember(Fraction(time), {"x": Fraction(level)}, {"x": Fraction(level + 1)}, Course({}, {}))
    return history


def test_marks_are_equal_by_content() -> None:
    mark, other = HistoryMark((Fraction(1), 2)), HistoryMark((Fraction(1), 2))
    assert mark == other
    assert hash(mark) == hash(other)
    assert mark != HistoryMark((Fraction(1), 3))
    assert mark != (Fraction(1), 2)


@pytest.mark.parametrize(("time", "found"), [(-1, None), (0, 0), (1, 0), (3, 3), (9, 7)])
def test_the_entry_at_a_time_is_the_last_one_at_or_before_it(time: int, found: int | None) -> None:
    entry = remembered(Fraction(100), [0, 3, 7]).entry_at(Fraction(time))
    assert (entry and entry.time) == found


def test_nothing_is_remembered_where_nothing_looks_back() -> None:
    history = remembered(None, [0, 3])
    assert history.entries == []
    assert history.key(Fraction(3)) == ()


def test_of_two_hundred_instants_those_beyond_the_horizon_are_dropped() -> None:
    history = remembered(Fraction(10), list(range(200)))
    assert len(history.entries) <= 65
    assert history.times()[0] <= 199 - 10
    assert history.times()[-1] == 199
    assert len(history.marks) == len(history.entries)


@given(st.lists(st.integers(1, 9), min_size=1, max_size=12), st.integers(1, 40), st.integers(0, 50))
def test_pasts_alike_but_for_the_time_have_equal_keys(gaps: list[int], horizon: int, shift: int) -> None:
    times = [sum(gaps[: n + 1]) for n in range(len(gaps))]
    early, late = remembered(Fraction(horizon), times), remembered(Fraction(horizon), [time + shift for time in times])
    assert early.key(Fraction(times[-1])) == late.key(Fraction(times[-1] + shift))
    assert early.key(Fraction(times[-1])) != remembered(Fraction(horizon), times, level=5).key(Fraction(times[-1]))


def test_what_lies_beyond_the_horizon_does_not_decide_the_future() -> None:
    key = remembered(Fraction(2), [0, 1, 6, 8]).key(Fraction(9))
    assert key == remembered(Fraction(2), [0, 3, 6, 8]).key(Fraction(9))
    assert key != remembered(Fraction(2), [0, 1, 7, 8]).key(Fraction(9))


def test_a_copy_goes_on_by_itself() -> None:
    history = remembered(Fraction(9), [0, 1])
    twin = history.copy()
    twin.remember(Fraction(2), {}, {}, Course({}, {}))
    assert history.times() == [0, 1]
    assert twin.times() == [0, 1, 2]


def test_numbers_that_move_are_mapped_by_name_and_others_stay() -> None:
    history = History(Fraction(9))
    history.remember(
        Fraction(0),
        {"x": Fraction(1), "c": Fraction(5)},
        {"x": Fraction(2), "c": Fraction(5)},
        Course({"x": Fraction(3)}, {}),
    )
    names = []

    def double(name: str, level: Fraction) -> Fraction:
        names.append(name)
        return 2 * level

    history.map_numbers(Fraction(0), {"x"}, double)
    entry = history.entries[0]
    assert (entry.sampled, entry.after, entry.course.rates) == ({"x": 2, "c": 5}, {"x": 4, "c": 5}, {"x": 6})
    assert names == ["0 sampled x", "0 after x", "0 rate x"]


def test_gradients_are_left_out_of_what_is_compared() -> None:
    assert frozen([Affine(Fraction(2)), True, Fraction(1, 3)]) == frozen([Fraction(2), 1, Fraction(2, 6)])
    assert frozen([Fraction(2)]) != frozen([Fraction(3)])


def relative(pending: list[Landing], now: Fraction) -> list[tuple[Fraction, str, Fraction]]:
    return [(at - now, path, value) for at, path, value in pending]


@pytest.mark.parametrize("seed", range(20))
def test_commands_to_land_are_alike_where_all_of_them_are_as_far_ahead(seed: int) -> None:
    draw = random.Random(seed)  # noqa: S311  (no secret)
    seen: dict[object, list[tuple[Fraction, str, Fraction]]] = {}
    pending: list[Landing] = []
    for number in range(200):
        now = Fraction(number, 2)
        del pending[: sum(at <= now for at, *_ in pending)]
        for path in ("a.x", "b.x"):
            if draw.random() < 0.3:
                landing = Landing((now + draw.choice((1, 2)), path, Fraction(draw.randint(0, 1))))
                bisect.insort(pending, landing, key=lambda one: one[0])
        copies = [Landing(landing) for landing in pending]
        assert landing_key(pending, now) == landing_key(copies, now)  # whatever was marked before
        assert seen.setdefault(landing_key(pending, now), relative(pending, now)) == relative(pending, now)
    assert len(seen) == len({tuple(alike) for alike in seen.values()})
