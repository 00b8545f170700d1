"""Limits on circles beside what leads to them: where requests begin, and what they are made for."""

from __future__ import annotations

import pytest

from coherence.language.reading import read_text
from coherence.verify.calls.call_graph import call_tree
from coherence.verify.calls.recursion_limits import ends, holding, may_end

LIMIT = "limits: {depth: {counts: attempts(a), per: users, at_most: 5, when_full: reject}}\n"
THROUGH_USERS = ("users a, a a", "users door, door a, a a", "users x, x y, y x, y a, a a", "x users, users a, a b, b a")
ELSEWHERE = (
    "users a, x y, y x, y a, a a",
    "users a, x x, x a, a a",
    "users x, x users, x a, users a, a a",
    "users model, a a",
    "other a, users a, a a",
    "users b, a b, b a, b b",
)


def ended(calls: str, more: str = "") -> bool:
    listed = "".join(f"  - {{from: {a}, to: {b}}}\n" for a, b in (pair.split() for pair in calls.split(", ")))
    design = read_text(f"coherence: 1\n{more}{LIMIT}calls:\n{listed}", "d")
    tree = call_tree(design)
    (things,) = (own for own in tree.cycles if "a" in own)
    return ends(design.limits["depth"], design, tree, things)


@pytest.mark.parametrize("calls", THROUGH_USERS)
def test_requests_that_come_through_the_users_end(calls: str) -> None:
    assert ended(calls)


@pytest.mark.parametrize("calls", ELSEWHERE)
def test_requests_that_begin_elsewhere_do_not(calls: str) -> None:
    assert not ended(calls)


def test_a_workload_that_is_called_begins_requests_too() -> None:
    assert not ended("users door, door a, a a", "workload: {door: {arrives: 1 req/s}}\n")


def test_calls_above_are_those_that_lead_there() -> None:
    calls = "".join(f"  - {{from: {a}, to: {b}}}\n" for a, b in ("xy", "ya", "aa", "am", "zm"))
    tree = call_tree(read_text(f"coherence: 1\ncalls:\n{calls}", "d"))
    assert [plan.name for plan in tree.above(("a",))] == ["x -> y", "y -> a", "a -> a"]


UNDER = """coherence: 1
limits: {{few: {{counts: {}, at_most: 5{}}}}}
calls:
  - {{from: users, to: a}}
  - {{from: a, to: a}}
  - {{from: a, to: model}}
  - {{from: batch, to: store}}
"""


def decided(counts: str, more: str = ", when_full: reject") -> tuple[bool, bool]:
    design = read_text(UNDER.format(counts, more), "d")
    tree = call_tree(design)
    caps = tuple(design.limits.values())
    return bool(may_end(caps, tree, ("a",))), bool(holding(caps, tree, ("a",)))


@pytest.mark.parametrize(
    "counts",
    ["a.requests in flight", "attempts(a)", "attempts(model)", "users.tokens", "sum of request.tokens", "a.running"],
)
def test_caps_of_what_goes_around_may_end_it(counts: str) -> None:
    assert decided(counts) == (True, False)


@pytest.mark.parametrize(
    "counts",
    ["users.requests in flight", "attempts(store)", "store.tokens", "a.replicas", "a.evicted", "count of a by node"],
)
def test_caps_of_other_things_do_not(counts: str) -> None:
    assert decided(counts) == (False, False)


def test_what_waits_at_a_cap_may_wait_for_itself() -> None:
    for more in (", when_full: wait", ", when_full: evict and redo", ""):
        assert decided("a.requests in flight", more) == (True, True)
    assert decided("a.requests in flight", ", when_full: wait, window: 1 s") == (True, False)
    assert decided("model.requests in flight", ", when_full: wait") == (True, False)
