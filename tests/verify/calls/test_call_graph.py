"""The calls of a design as a graph: work along calls, cycles, enclosures, drains and paths, with literal answers."""

from __future__ import annotations

from fractions import Fraction

import pytest

from coherence.language.design import Design
from coherence.language.reading import read_text
from coherence.verify.calls.call_graph import call_tree, enclosures, ended_by
from coherence.verify.calls.drains import drains, unlisted
from coherence.verify.calls.paths import amplification, causes_of, unsaid, ways
from coherence.verify.calls.retry_policies import known_end, longest_end, retry_end, tries_again
from tests.verify.affine_rows import figures

CHAIN = """
coherence: 1
components: {front: {}, middle: {takes: {serve: 2 s}}, back: {takes: {serve: 1 s .. 3 s}}}
calls:
  - {from: front, to: middle, tries: 2, per_try: 5 s, deadline: 20 s}
  - {from: middle, to: back, tries: 3, per_try: 4 s, pause: 1 s, on_timeout: cancel}
"""


def design(text: str = CHAIN) -> Design:
    return read_text(text)


def test_the_longest_call_is_its_tries_and_pauses_or_its_deadline() -> None:
    front, middle = call_tree(design()).plans
    assert figures(known_end(front), longest_end(front), retry_end(front)) == (10, 10, 10)
    assert figures(known_end(middle), longest_end(middle)) == (3 * 4 + 2 * 1, 14)
    assert (front.tries, front.retries, middle.tries) == (2, True, 3)


def test_a_deadline_ends_all_tries() -> None:
    shorter = call_tree(design(CHAIN.replace("20 s", "7 s"))).plans[0]
    assert figures(known_end(shorter), longest_end(shorter), retry_end(shorter)) == (7, 7, 7)


def test_work_adds_up_along_calls_and_own_service() -> None:
    work = call_tree(design()).work
    assert figures(work["back"].known, work["back"].longest) == (3, 3)
    assert figures(work["middle"].known, work["middle"].longest) == (14, 16)  # its calls, and 2 s of its own
    assert figures(work["front"].known, work["front"].longest) == (10, 10)


def test_a_call_without_a_limit_passes_on_the_time_of_what_it_calls() -> None:
    open_ = call_tree(design(CHAIN.replace(", per_try: 5 s, deadline: 20 s", "").replace("tries: 2", "tries: 1")))
    assert open_.work["front"].longest == 16
    assert [plan.callee for plan in open_.work["front"].calls] == ["back"]


def test_calls_that_lead_back_are_a_cycle_of_unknown_length() -> None:
    tree = call_tree(design(CHAIN + "  - {from: back, to: middle, per_try: 1 s}\n"))
    assert [set(cycle) for cycle in tree.cycles] == [{"middle", "back"}]
    assert [tree.on_cycle(plan) for plan in tree.plans] == [False, True, True]
    assert tree.work["middle"].longest is None


def test_the_try_of_a_caller_encloses_what_the_callee_does() -> None:
    tree = call_tree(design())
    assert [figures(e.inside, e.limit.low) for e in enclosures(design(), tree)] == [("middle", 5)]


def test_paths_multiply_the_tries_of_their_calls() -> None:
    tree = call_tree(design(CHAIN.replace("20 s", "200 s")))
    found = ways(tree, "front", "back")
    assert [[plan.callee for plan in way] for way in found.ways] == [["middle", "back"]]
    assert not found.cyclic
    assert ways(tree, "back", "front").ways == ()
    assert amplification(found.ways[0], "any other failure", abandons=True).sends == 6
    assert unsaid(found.ways[0]) == tree.plans[0]


def test_two_ways_are_two_paths_and_a_cycle_has_no_end() -> None:
    two = CHAIN + "  - {from: front, to: back}\n"
    assert len(ways(call_tree(design(two)), "front", "back").ways) == 2
    cyclic = CHAIN + "  - {from: back, to: middle}\n"
    assert ways(call_tree(design(cyclic)), "front", "back").cyclic


@pytest.mark.parametrize(("when", "cause", "again"), [
    ("", "anything", True), (", retry_when: [timeout]", "timeout", True), (", retry_when: [refused]", "timeout", False),
    (", retry_when: [slow]", "timeout", True), (", retry_when: [Not Ready]", "not_ready", True),
])  # fmt: skip
def test_a_call_tries_again_after_the_causes_that_it_names(when: str, cause: str, again: bool) -> None:
    text = f"coherence: 1\ncomponents: {{a: {{}}}}\ncalls: [{{from: b, to: a, tries: 2, per_try: 1 s{when}}}]\n"
    plan = call_tree(design(text)).plans[0]
    assert tries_again(plan.call, cause) is again
    assert (cause in causes_of([plan])) is (again and cause != "anything")


def test_drains_are_stated_by_components_and_by_timers() -> None:
    text = """
coherence: 1
components: {pool: {drain: 60 s}, spot: {}}
calls: [{from: app, to: pool}, {from: app, to: spot}]
timers:
  kill: {from: spot notice, after: 30 s, jitter: 5 s, then: stop spot}
  unlist: {from: spot notice, after: 3 s, then: unlist spot}
"""
    stated = design(text)
    assert [figures(d.name, d.thing, d.lasts.low, d.lasts.high) for d in drains(stated)] == [
        ("pool", "pool", 60, 60), ("kill", "spot", 25, 35),
    ]  # fmt: skip
    listed = unlisted(stated, "spot")
    assert listed is not None
    assert listed.low == Fraction(3)
    assert unlisted(stated, "pool") is None
    assert [ended_by(timer) for timer in stated.timers.values()] == ["spot", ""]


@pytest.mark.parametrize(
    ("begins", "bounds"),
    [
        ("middle starts", True),
        ("middle.serve starts", True),
        ("middle.drain starts", False),  # a grace bounds what is in flight at the shutdown, not each call
        ("middle.tidy starts", False),  # work apart from the calls
        ("middle.warm starts", True),
        ("back starts", False),
    ],
)
def test_a_timer_encloses_calls_where_it_may_run_from_their_work(begins: str, bounds: bool) -> None:
    takes = "takes: {serve: 2 s, drain: 5 s, tidy: 9 s, warm: 3 s}, roles: {drain: drain, tidy: apart, warm: start}"
    text = CHAIN.replace("middle: {takes: {serve: 2 s}}", f"middle: {{{takes}}}")
    timers = f"timers: {{guard: {{from: {begins}, after: 6 s, then: kill middle}}}}\n"
    stated = design(text + timers)
    assert ("guard" in [limit.name for limit in enclosures(stated, call_tree(stated))]) is bounds


def test_a_timer_that_the_end_of_a_start_lifts_bounds_no_call() -> None:
    text = CHAIN.replace(
        "middle: {takes: {serve: 2 s}}", "middle: {takes: {serve: 2 s, warm: 3 s}, roles: {warm: start}}"
    )
    timers = "timers: {guard: {from: middle.warm starts, after: 6 s, unless: middle.warm ends, then: kill middle}}\n"
    stated = design(text + timers)
    assert "guard" not in [limit.name for limit in enclosures(stated, call_tree(stated))]
