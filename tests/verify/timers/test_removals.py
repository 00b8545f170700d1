"""What takes members out and what recurs: loops that count out, timers that end, caps, and the time between."""

from __future__ import annotations

from fractions import Fraction

import pytest

from coherence.findings.question_input import Subject
from coherence.language.reading import read_text
from coherence.model.model import Interval
from coherence.verify.facts.design_facts import DesignFacts, known
from coherence.verify.timers.recurrences import recurrences
from coherence.verify.timers.removals import Removal, removals

TIMER = """
coherence: 1
components: {{pool: {{copies: 5{returns}}}}}
timers: {{t: {{from: {start}, {time}, then: {then}}}}}
"""


def facts(start: str, then: str, time: str = "after: 10 s", returns: str = "", more: str = "") -> DesignFacts:
    text = TIMER.format(start=start, then=then, time=time, returns=returns) + more
    return known(Subject(read_text(text), {}))


def removal(start: str, then: str = "eject pool", more: str = "") -> Removal:
    found = list(removals(facts(start, then, more=more)))
    assert len(found) == 1
    return found[0]


@pytest.mark.parametrize(("start", "driven", "event"), [
    ("pool overloaded", True, ""), ("pool hangs", False, ""), ("pool odd", False, "pool odd"),
    ("gateway slow", False, "gateway slow"),
])  # fmt: skip
def test_a_timer_takes_members_out_driven_by_load_or_not(start: str, driven: bool, event: str) -> None:
    found = removal(start)
    assert (found.thing, found.driven, found.event) == ("pool", driven, event)


def test_a_timer_that_only_tells_takes_nothing_out() -> None:
    assert list(removals(facts("pool overloaded", "alert pool"))) == []


@pytest.mark.parametrize(("cap", "most"), [("2", 2), ("0.5 * pool.copies", 2), ("9", 5)])
def test_no_more_than_the_cap_and_the_members_are_out(cap: str, most: int) -> None:
    stated = facts("pool hangs", "eject pool", more=f"limits: {{c: {{counts: pool.ejected, at_most: {cap}}}}}\n")
    found = next(iter(removals(stated)))
    assert found.most(stated, 5) == most
    assert found.of == ("t", "c")


@pytest.mark.parametrize(("returns", "time", "apart"), [
    (", returns: always", "after: 10 s .. 12 s", Interval(Fraction(10), Fraction(12))),
    ("", "after: 10 s", None),
])  # fmt: skip
def test_a_timer_from_the_start_recurs_where_members_come_back(returns: str, time: str, apart: Interval | None) -> None:
    found = list(recurrences(facts("pool starts", "kill pool", time, returns), "pool"))
    assert [one.apart for one in found] == ([apart] if apart is not None else [])


def test_a_probe_recurs_with_its_period_times_its_misses() -> None:
    found = list(recurrences(facts("pool odd", "kill pool", "every: 10 s, misses: 2 .. 3"), "pool"))
    assert [(one.apart.low, one.apart.high) for one in found] == [(Fraction(20), Fraction(30))]
