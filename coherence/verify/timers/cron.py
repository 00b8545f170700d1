"""Decides whether recurring windows such as `0 0 * * * for 24 h` cover all time, exactly, in UTC.

A cron expression has five fields (minute, hour, day of month, month, day of week); where both days are
restricted, either may match.  A window is [fire, fire + duration).  Windows on all days of the month repeat every
week, others every 400 years of the Gregorian calendar (146,097 days, a whole number of weeks).
SOURCE: crontab(5); robfig/cron (the parser that Kubernetes and Karpenter use).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from fractions import Fraction

from coherence.base import units
from coherence.base.units import SECOND, UnitError

DAY = 86400
LONGEST = 9 * 366  # days: longer than the longest wait for a date (29 February over a century)
MACROS = {
    "@hourly": "0 * * * *", "@daily": "0 0 * * *", "@midnight": "0 0 * * *", "@weekly": "0 0 * * 0",
    "@monthly": "0 0 1 * *", "@yearly": "0 0 1 1 *", "@annually": "0 0 1 1 *",
}  # fmt: skip
MONTHS = {
    "jan": 1, "feb": 2, "mar": 3, "apr": 4, "may": 5, "jun": 6,
    "jul": 7, "aug": 8, "sep": 9, "oct": 10, "nov": 11, "dec": 12,
}  # fmt: skip
WEEKDAYS = {"sun": 0, "mon": 1, "tue": 2, "wed": 3, "thu": 4, "fri": 5, "sat": 6}
BEGINNING = date(2001, 1, 1)  # the first day of a cycle of 400 years, a Monday


Seconds = int | Fraction  # whole seconds stay whole: 400 years of days are added up


class CronError(ValueError):
    """A text that is not a recurring window; the message says why."""


@dataclass(frozen=True)
class Recurring:
    """Windows of `duration` seconds from every minute of `times` (of the day) on every matching day."""

    times: tuple[int, ...]  # minutes after midnight, ascending
    days: frozenset[int]  # of the month
    months: frozenset[int]
    weekdays: frozenset[int]  # 0 = Sunday
    either: bool  # both kinds of days are restricted: one suffices
    duration: Fraction

    @property
    def weekly(self) -> bool:
        """Decides whether the windows repeat every week."""
        return len(self.months) == 12 and len(self.days) == 31

    def on(self, day: date) -> bool:
        """Decides whether a window begins on this day."""
        if day.month not in self.months:
            return False
        matches = (day.day in self.days, day.isoweekday() % 7 in self.weekdays)
        return any(matches) if self.either else all(matches)


def recurring(text: str) -> Recurring:
    """Returns the windows of `<cron> for <duration>`.  Raises CronError."""
    expression, word, duration = text.strip().rpartition(" for ")
    if not word:
        raise CronError(f"'{text}' is not `<cron> for <duration>`")
    try:
        size, dimension = units.quantity(duration)
    except UnitError as error:
        raise CronError(str(error)) from None
    if dimension != SECOND or size <= 0:
        raise CronError(f"'{duration}' is not a duration")
    return _parsed(expression.strip(), size)


def _parsed(expression: str, duration: Fraction) -> Recurring:
    fields = MACROS.get(expression.lower(), expression).split()
    if len(fields) != 5:
        raise CronError(f"'{expression}' has {len(fields)} fields, a cron expression has 5")
    minutes, hours = _values(fields[0], 0, 59), _values(fields[1], 0, 23)
    days, months = _values(fields[2], 1, 31), _values(fields[3], 1, 12, MONTHS)
    weekdays = frozenset(day % 7 for day in _values(fields[4], 0, 7, WEEKDAYS))
    either = not _free(fields[2]) and not _free(fields[4])
    times = tuple(sorted(hour * 60 + minute for hour in hours for minute in minutes))
    return Recurring(times, days, months, weekdays, either, duration)


def _free(field: str) -> bool:
    return field in ("*", "?", "*/1")


def _values(field: str, low: int, high: int, names: dict[str, int] | None = None) -> frozenset[int]:
    """Returns the numbers that a field such as `1-5`, `*/15`, `mon,wed` or `?` stands for."""
    numbers: set[int] = set()
    for part in field.lower().split(","):
        match = re.fullmatch(r"(\*|\?|\w+)(?:-(\w+))?(?:/(\d{1,4}))?", part)
        if match is None or (match[2] and match[1] in "*?"):
            raise CronError(f"'{field}' is not a field of a cron expression")
        first = low if match[1] in "*?" else _number(match[1], names)
        last = _last(match, first, high, names)
        step = int(match[3] or 1)
        if not (low <= first <= last <= high) or step < 1:
            raise CronError(f"'{part}' is not within {low} and {high}")
        numbers |= set(range(first, last + 1, step))
    return frozenset(numbers)


def _last(match: re.Match[str], first: int, high: int, names: dict[str, int] | None) -> int:
    if match[2]:
        return _number(match[2], names)
    return high if match[1] in "*?" or match[3] else first


def _number(text: str, names: dict[str, int] | None) -> int:
    if names and text in names:
        return names[text]
    if not text.isdigit() or len(text) > 4:
        raise CronError(f"'{text}' is not a number")
    return int(text)


def uncovered(windows: Sequence[Recurring]) -> Fraction | None:
    """Returns the seconds from Monday 2001-01-01 00:00 UTC to the first instant in no window; None where none is.

    What reaches into the cycle from before its beginning is what reaches past its end.
    """
    if not windows:
        return Fraction(0)
    days = 7 if all(window.weekly for window in windows) else 146_097
    over = max((end for start, end in _intervals(windows, -_before(windows), 0) if start < 0), default=0)
    gap = _first_gap(windows, days, max(over, 0))
    return None if gap is None else Fraction(gap)


def _before(windows: Sequence[Recurring]) -> int:
    """Returns days before the beginning whose windows may still be open at it."""
    longest = max(window.duration for window in windows)
    return min(int(longest // DAY) + 1, LONGEST)


def _first_gap(windows: Sequence[Recurring], days: int, covered: Seconds) -> Seconds | None:
    """Returns the first instant in [covered, end of the cycle) in no window that starts at or after the beginning."""
    for start, end in _intervals(windows, 0, days):
        if start > covered:
            return covered
        covered = max(covered, end)
        if covered >= days * DAY:
            return None
    return covered if covered < days * DAY else None


def _intervals(windows: Sequence[Recurring], first: int, last: int) -> Iterator[tuple[Seconds, Seconds]]:
    """Yields all windows that start on the days [first, last) of the cycle, by start."""
    spans = [(window, _merged(window)) for window in windows]
    known: dict[tuple[int, int, int], list[tuple[Seconds, Seconds]]] = {}
    for number in range(first, last):
        day, midnight = BEGINNING + timedelta(days=number), number * DAY
        key = (day.month, day.day, day.weekday())
        if key not in known:
            known[key] = sorted(span for window, found in spans if window.on(day) for span in found)
        for start, end in known[key]:
            yield midnight + start, midnight + end


def _merged(window: Recurring) -> list[tuple[Seconds, Seconds]]:
    """Returns the windows of one day, in seconds after its midnight, joined where they touch."""
    intervals: list[tuple[Seconds, Seconds]] = []
    length: Seconds = window.duration.numerator if window.duration.denominator == 1 else window.duration
    for minute in window.times:
        start: Seconds = minute * 60
        if intervals and start <= intervals[-1][1]:
            start = intervals.pop()[0]
        intervals.append((start, minute * 60 + length))
    return intervals


def around(windows: Sequence[Recurring], instant: Fraction) -> list[Fraction]:
    """Returns the ends of all windows that started at or before an instant of the cycle and could still be open."""
    day = int(instant // DAY)
    found = _intervals(windows, day - _before(windows), day + 1)
    return [Fraction(end) for start, end in found if start <= instant]


def day_and_time(seconds: Fraction) -> str:
    """Renders an instant of the cycle: `Mon 08:00` in the first week, else the date too."""
    day, rest = divmod(seconds, DAY)
    at = BEGINNING + timedelta(days=int(day))
    clock = f"{int(rest // 3600):02d}:{int(rest % 3600 // 60):02d} UTC"
    return f"{at:%a} {clock}" if day < 7 else f"{at:%a %d %b} {clock}"
