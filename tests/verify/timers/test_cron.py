"""Recurring windows: what is read, and coverage against counting every minute."""

from __future__ import annotations

from datetime import date, timedelta
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coherence.verify.timers.cron import BEGINNING, CronError, Recurring, around, day_and_time, recurring, uncovered

HOUR = 3600


def gap(*texts: str) -> Fraction | None:
    return uncovered([recurring(text) for text in texts])


@pytest.mark.parametrize(
    "texts",
    [
        ["0 0 * * * for 24 h"],
        ["@daily for 1 d"],
        ["0 * * * * for 60 min"],
        ["* * * * * for 1 min"],
        ["*/15 * * * * for 15 min"],
        ["0 0 * * 0 for 7 d"],  # from Sunday to Sunday
        ["0 20 * * * for 12 h", "0 8 * * * for 12 h"],  # over midnight
        ["0 0 * * 1-5 for 24 h", "0 0 * * 6,7 for 24 h"],  # 7 is Sunday too
        ["0 0 1 * * for 31 d"],
        ["0 0 1 1 * for 366 d"],
        ["0 0 1-31 * mon for 24 h"],  # either kind of day suffices
        ["0 0 29 2 * for 2921 d"],  # over 2100, which has no 29 February
    ],
)
def test_all_time_is_covered(texts: list[str]) -> None:
    assert gap(*texts) is None


@pytest.mark.parametrize(
    ("texts", "first"),
    [
        ([], 0),
        (["0 0 * * * for 23 h"], 23 * HOUR),
        (["0 9 * * mon-fri for 8 h"], 0),
        (["0 0 * * 1-5 for 24 h"], 5 * 24 * HOUR),
        (["0 20 * * * for 12 h", "0 8 * * * for 11 h"], 19 * HOUR),  # what began yesterday still holds at 0
        (["0 0 1 * * for 30 d"], 30 * 24 * HOUR),  # 31 January
        (["0 0 1 * * for 30 d", "0 0 31 * * for 12 h"], 30 * 24 * HOUR + 12 * HOUR),
        (["0 0 29 2 * for 2920 d"], (date(2104, 2, 28) - BEGINNING).days * 24 * HOUR),
        (["0 0 1 1 * for 365 d"], (date(2004, 12, 31) - BEGINNING).days * 24 * HOUR),  # the leap year's last day
    ],
)
def test_the_first_gap(texts: list[str], first: int) -> None:
    assert gap(*texts) == first


@pytest.mark.parametrize(
    "text",
    [
        "0 0 * * *",
        "0 0 * * for 3 h",
        "61 * * * * for 3 h",
        "0 24 * * * for 3 h",
        "5-1 * * * * for 3 h",
        "* * * foo * for 3 h",
        "* * * * * for 0 s",
        "* * * * * for 3 req",
        "*-3 * * * * for 3 h",
        "1/0 * * * * for 3 h",
        "* * 0 * * for 3 h",
        " for 3 h",
        "- - - - - for 3 h",
    ],
)
def test_what_is_not_a_window_is_refused(text: str) -> None:
    with pytest.raises(CronError):
        recurring(text)


def test_names_steps_and_lists() -> None:
    found = recurring("5,10-20/5 0-6/3 * JAN,mar-Apr ? for 90 min")
    assert found.times == tuple(hour * 60 + minute for hour in (0, 3, 6) for minute in (5, 10, 15, 20))
    assert found.months == {1, 3, 4}
    assert found.duration == 5400
    assert not found.either


def test_an_instant_is_told_with_its_day() -> None:
    assert day_and_time(Fraction(8 * HOUR + 1800)) == "Mon 08:30 UTC"
    assert day_and_time(Fraction(30 * 24 * HOUR)) == "Wed 31 Jan 00:00 UTC"


def test_a_gap_lies_behind_every_window_around_it() -> None:
    windows = [recurring("0 20 * * * for 12 h"), recurring("0 8 * * * for 11 h")]
    found = uncovered(windows)
    assert found is not None
    assert all(end <= found for end in around(windows, found))


def brute(windows: list[Recurring], days: int) -> int | None:
    """The first uncovered half hour of the cycle, by marking each of them."""
    step, covered = 30, set()
    for number in range(-10, days):
        day = BEGINNING + timedelta(days=number)
        for window in windows:
            for minute in window.times if window.on(day) else ():
                first = number * 1440 + minute
                covered |= set(range(first, first + int(window.duration // 60), step))
    return next((m * 60 for m in range(0, days * 1440, step) if m not in covered), None)


HALF_HOURS = st.builds(
    lambda minute, hours, days, length: f"{minute} {hours} * * {days} for {length * 30} min",
    st.sampled_from(("0", "30", "0,30")),
    st.sampled_from(("*", "*/2", "0-11", "12-23", "8", "20")),
    st.sampled_from(("*", "1-5", "0,6", "mon,wed")),
    st.integers(min_value=1, max_value=60),
)


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(st.lists(HALF_HOURS, min_size=1, max_size=3))
def test_coverage_agrees_with_marking_every_half_hour(texts: list[str]) -> None:
    windows = [recurring(text) for text in texts]
    assert uncovered(windows) == brute(windows, 7)
