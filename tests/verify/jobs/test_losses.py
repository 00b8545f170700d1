"""Members that places take with them are counted as every way to lie counts them; proofs need enough of those left."""

from __future__ import annotations

from itertools import combinations, product
from random import Random

import pytest

from coherence.findings.finding import Finding, Verdict
from coherence.findings.question_input import Subject
from coherence.language.reading import read_text
from coherence.verify.facts.design_facts import known
from coherence.verify.jobs.losses import most_lost
from coherence.verify.patterns.limits import overload

RATE = 10  # what one member serves in a second


def drawn(draw: Random) -> tuple[str, int, int, int | None]:
    """Returns a design, what is asked in a second, its members and the fewest left (None: not all find a place)."""
    nodes, slots, copies, gone = draw.randint(2, 4), draw.randint(1, 3), draw.randint(1, 5), draw.randint(1, 2)
    apart, kind, asked = draw.random() < 0.5, draw.choice(("lost", "drained")), RATE * draw.randint(1, 5) - 5
    rules = "placement: {web: [spread by node <= 1]}\n" if apart else ""
    text = (
        "coherence: 1\n"
        f"workload: {{users: {{rate: {asked} req/s, service: {{mean: 100 ms}}}}}}\n"
        f"components: {{web: {{copies: {copies}, needs: {{slots: 1}}}}}}\n"
        f"places: {{node: {{count: {nodes}, slots: {slots}, {kind}: {gone}}}}}\n{rules}"
        "calls: [{from: users, to: web}]\n"
    )
    ways = [way for way in product(range(slots + 1), repeat=nodes) if sum(way) == copies]
    ways = [way for way in ways if not apart or max(way) - min(way) <= 1]
    left = [copies - sum(away) for way in ways for away in combinations(way, min(gone, nodes))]
    return text, asked, copies, min(left, default=None)


def answer(text: str) -> Finding:
    (found,) = overload.ask(Subject(read_text(text, "d"), {"d": text}))
    return found


@pytest.mark.parametrize("seed", range(120))
def test_members_that_go_with_their_places_are_counted_as_every_way_to_lie_counts_them(seed: int) -> None:
    text, asked, members, left = drawn(Random(seed))  # noqa: S311 (drawn cases, no secrets)
    design = read_text(text, "d")
    found, lost = answer(text), most_lost(known(Subject(design, {"d": text})), "web")
    assert lost == (None if left is None else members - left)
    if asked >= RATE * members:
        assert found.verdict is Verdict.CONFLICT
    else:
        proved = left is not None and asked < RATE * left
        assert found.verdict is (Verdict.PROVED if proved else Verdict.UNDECIDED)


def test_what_lies_on_no_place_is_not_counted() -> None:
    text = (
        "coherence: 1\nworkload: {users: {rate: 5 req/s, service: {mean: 100 ms}}}\ncomponents: {web: {copies: 1}}\n"
        "places: {node: {count: 3, lost: 1}}\ncalls: [{from: users, to: web}]\n"
    )
    found = answer(text)
    assert (found.verdict, found.assumptions) == (Verdict.PROVED, ("web stands on no place that goes away",))


@pytest.mark.parametrize("then", ["scale down web", "scale web in", "shrink web", "downscale web"])
def test_a_timer_that_may_leave_fewer_members_is_named(then: str) -> None:
    text = (
        "coherence: 1\nworkload: {users: {rate: 5 req/s, service: {mean: 100 ms}}}\ncomponents: {web: {copies: 1}}\n"
        f"timers: {{idle: {{from: web idle, after: 10 min, then: {then}}}}}\ncalls: [{{from: users, to: web}}]\n"
    )
    found = answer(text)
    assert (found.verdict, found.assumptions) == (Verdict.PROVED, ("idle takes none of web out",))
