"""How long an activity takes with the calls made in it, with literal answers."""

from __future__ import annotations

from fractions import Fraction

import pytest

from coherence.language.reading import read_text
from coherence.verify.events.along_calls import answering, call_begins, calling
from coherence.verify.timers.firing import FiringWindow


def window(low: int, high: int | None) -> FiringWindow:
    return FiringWindow(Fraction(low), None if high is None else Fraction(high))


def text(call: str = "per_try: 5 s", more: str = "") -> str:
    things = "web: {takes: {load: 9 s, serve: 1 s .. 2 s}}, db: {takes: {serve: 3 s .. 4 s}}"
    return f"coherence: 1\ncomponents: {{{things}}}\ncalls:\n  - {{from: web, to: db, {call}}}\n{more}"


def test_an_activity_that_makes_no_call_has_its_own_time_alone() -> None:
    design = read_text(text())
    assert calling(design, design.components["web"], "load") is None
    assert calling(design, design.components["db"], "serve") is None


@pytest.mark.parametrize(
    ("call", "calm", "failing"),
    [
        ("per_try: 5 s", (1, 6, 3, 4), (1, 6, 3, 4)),
        ("per_try: 2 s", (1, 4, 2, 2), (1, 4, 2, 2)),
        ("per_try: 5 s, tries: 2, retry_when: [full], fails: {full: 2 s}", (1, 6, 3, 4), (1, 8, 3, 6)),
        ("per_try: 5 s, tries: 3, retry_when: [full], fails: {full: 2 s}", (1, 8, 3, 4), (1, 10, 3, 8)),
    ],
)
def test_calls_are_waited_for_and_failing_tries_may_be_in_its_own_time_or_add_to_it(
    call: str, calm: tuple[int, ...], failing: tuple[int, ...]
) -> None:
    design = read_text(text(call))
    made = calling(design, design.components["web"], "serve")
    assert made is not None
    for time, (low, high, least, known) in ((made.calm, calm), (made.failing, failing)):
        assert (time.window, time.reached) == (window(low, high), window(least, known))
    assert made.inside == ("web -> db",)


def test_what_is_called_begins_after_the_calls_before_it() -> None:
    more = "  - {from: web, to: log, per_try: 7 s}\n"
    staged = text("per_try: 5 s, stage: b", more.replace("7 s", "7 s, stage: a"))
    (begin,) = call_begins(read_text(text("per_try: 5 s", more)))
    assert (begin.cause, begin.effect, begin.time.window) == ("web.serve starts", "db.serve starts", window(0, 9))
    (begin,) = call_begins(read_text(staged.replace("- {from: web, to: log", "- {from: web, to: log")))
    assert begin.time.window.earliest == 0


def test_a_thing_answers_in_one_activity_or_it_is_not_said_in_which() -> None:
    design = read_text("coherence: 1\ncomponents: {a: {takes: {boot: 1 s, run: 2 s}}, b: {takes: {tidy: 1 s}}}\n")
    assert [answering(design, name) for name in ("a", "b", "c")] == ["a.run", "", ""]
