"""Promises about members that drawn timers may take out, beside runs of these timers at whole seconds."""

from __future__ import annotations

import itertools
from random import Random

import pytest

from coherence.door.check import check
from coherence.findings.finding import Verdict


def text_of(members: int, least: int, work: tuple[int, int], waits: list[int]) -> str:
    timers = "".join(
        f"  t{n}: {{from: guest.start starts, after: {wait} s, unless: guest.start ends, then: stop host, per: host}}\n"
        for n, wait in enumerate(waits)
    )
    return (
        f"coherence: 1\ncomponents:\n  host: {{copies: {members}}}\n"
        f"  guest: {{takes: {{start: {work[0]} s .. {work[1]} s}}}}\n"
        f"timers:\n{timers}promises: {{served: always host.available >= {least}}}\n"
    )


def fewest(members: int, work: tuple[int, int], waits: list[int]) -> int:
    """Returns the fewest members that are left in any run: a timer fires where the work lasts as long as it waits."""
    runs = itertools.product(range(work[0], work[1] + 1), waits)
    return 0 if any(lasts >= wait for lasts, wait in runs) else members


@pytest.mark.slow
def test_a_promise_is_proved_only_where_no_run_takes_members_out() -> None:
    random = Random(5)  # noqa: S311
    proved = broken = 0
    for _ in range(30):
        members, low = random.randint(2, 9), random.randint(1, 9)
        work = (low, low + random.randint(0, 6))
        waits = [random.randint(4, 18) for _ in range(random.randint(1, 2))]
        least = random.randint(1, members + 1)
        left = fewest(members, work, waits)
        answers = {f.verdict for f in check(text_of(members, least, work, waits)).findings if f.code == "COH240"}
        assert (Verdict.PROVED in answers) is (left >= least), (members, least, work, waits)
        proved, broken = proved + (left >= least), broken + (left < least <= members)
    assert proved > 5
    assert broken > 5


def test_what_nobody_counts_is_not_said_to_be_written_by_nobody() -> None:
    text = (
        "coherence: 1\ncomponents: {backend: {copies: 3}}\n"
        "timers: {max_fails: {from: backend fails, after: 0 s, per: backend, then: unlist backend}}\n"
        "promises: {served: always backend.listed >= 1}\n"
    )
    for action, named in (("unlist backend", True), ("kill backend", True), ("page operator", False)):
        answers = check(text.replace("unlist backend", action)).findings
        (words,) = [finding.message for finding in answers if finding.code == "COH106"]
        assert ("max_fails takes out at once" in words) is named, words
        assert ("nothing in the design states or writes it" in words) is not named, words
