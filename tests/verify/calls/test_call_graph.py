"""The calls of a design as a graph: work along calls, cycles and paths, with literal answers."""

from __future__ import annotations

import pytest

from coherence.language.design import Design
from coherence.language.reading import read_text
from coherence.verify.calls.call_graph import call_tree
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
