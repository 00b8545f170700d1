"""Roles of activities: stated, by use, by name, or none."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coherence.language.design import Design
from coherence.language.reading import read_text
from coherence.language.roles import counts, in_role, role, time_of, unknown_activities
from coherence.language.words import ACTIVITIES


def read(takes: str, more: str = "", timers: str = "") -> Design:
    text = f"coherence: 1\ncomponents: {{model: {{takes: {{{takes}}}{more}}}}}\n"
    return read_text(text + timers)


@pytest.mark.parametrize("word", ACTIVITIES["answer"])
def test_every_word_of_the_row_answers(word: str) -> None:
    time = time_of(read(f"{word}: 2 s .. 3 s").components["model"], "answer")
    assert time is not None
    assert [time.low, time.high] == [2, 3]


def test_a_stated_role_goes_before_the_name() -> None:
    model = read("serve: 9 s, decode: 2 s", ", roles: {decode: answer, serve: apart}").components["model"]
    time = time_of(model, "answer")
    assert time is not None
    assert time.high == 2
    assert (role(model, "serve"), role(model, "decode")) == ("apart", "answer")


@given(st.lists(st.integers(0, 1000), min_size=1, max_size=4))
def test_activities_with_the_role_of_an_answer_add_up(seconds: list[int]) -> None:
    takes = ", ".join(f"part{n}: {s} s" for n, s in enumerate(seconds))
    roles = ", ".join(f"part{n}: answer" for n in range(len(seconds)))
    time = time_of(read(takes, f", roles: {{{roles}}}").components["model"], "answer")
    assert time is not None
    assert time.low == time.high == Fraction(sum(seconds))


def test_of_several_names_the_first_of_the_row_answers() -> None:
    time = time_of(read("process: 7 s, answer: 1 s").components["model"], "answer")
    assert time is not None
    assert time.high == 1


def test_names_that_nothing_explains_are_unknown_and_those_that_a_timer_starts_are_not() -> None:
    save = "timers: {save: {from: model starts, every: 1 min, then: model.sweep starts}}\n"
    design = read("mull: 3 s, sweep: 1 s, load: 5 s", timers=save)
    assert list(unknown_activities(design, "model")) == ["mull"]
    assert [name for name, _ in in_role(design.components["model"], "start")] == ["load"]


@pytest.mark.parametrize(
    ("first", "unknown"),
    [
        ("cron ticks", []),  # a clock starts the join, and what follows it
        ("model.serve starts", ["join", "stream"]),  # a request may
        ("request comes", ["join", "stream"]),
    ],
)
def test_what_follows_an_activity_that_a_timer_starts_waits_for_no_caller_either(
    first: str, unknown: list[str]
) -> None:
    timers = f"timers: {{grow: {{from: {first}, after: 1 min, then: model.join starts}}, "
    timers += "copy: {from: model.join ends, after: 1 min, then: model.stream starts}}\n"
    assert list(unknown_activities(read("join: 1 min, stream: 1 h, serve: 1 s", timers=timers), "model")) == unknown


def test_what_follows_an_answer_may_be_a_part_of_it_though_a_timer_starts_one() -> None:
    timers = "timers: {poll: {every: 1 min, then: model.serve starts}, "
    timers += "copy: {from: model.serve ends, after: 0 s, then: model.stream starts}}\n"
    assert list(unknown_activities(read("serve: 1 s, stream: 1 h", timers=timers), "model")) == ["stream"]


def test_what_a_count_counts() -> None:
    assert counts("running", "available")
    assert counts("evicted", "available", "unavailable")
    assert not counts("evicted", "available")
