"""Room for one more member: the scarcest resource in the worst case of every range, and what is not stated."""

from __future__ import annotations

import random
from fractions import Fraction

import pytest

from coherence.findings.question_input import Subject
from coherence.language.design import needed
from coherence.language.reading import read_text
from coherence.verify.facts.design_facts import known
from coherence.verify.facts.tier_shares import supplies
from coherence.verify.jobs.capacity import Room, room_for_one, room_on_tier
from tests.verify.affine_rows import figures

DESIGN = """
coherence: 1
components:
  node: {{count: 3, cpu: {cpu}, memory: 64 GiB}}
  web: {{copies: 2, needs: {{cpu: 2, memory: 8 GiB}}, runs_on: node}}
  batch: {{copies: {batch}, needs: {{cpu: 3}}, runs_on: node}}
"""


def room(count: int, cpu: str = "16", batch: str = "2") -> Room:
    return room_for_one(known(Subject(read_text(DESIGN.format(cpu=cpu, batch=batch)), {})), "web", count)


@pytest.mark.parametrize(("count", "left", "enough"), [(3, 4, True), (4, 2, True), (5, 0, False)])
def test_what_is_left_of_the_scarcest_resource_decides(count: int, left: int, enough: bool) -> None:
    found = room(count)
    assert figures(found.enough, found.what, found.left, found.need) == (enough, "cpu", left, 2)
    assert found.supply == "node.cpu"


def test_every_range_counts_at_its_worst_end() -> None:
    assert room(3, cpu="14 .. 16").left == 2
    assert room(3, batch="1 .. 3").left == 1
    assert room(3, batch="1 .. 3").enough is False


@pytest.mark.parametrize(
    ("nodes", "need", "enough"),
    [
        ("8", 2, True),  # 128 - 88 are free on 8: 5 on some node at least
        ("8", 6, None),  # 40 in all, and perhaps 5 on each
        ("5 .. 8", 2, None),  # with five nodes all are full
        ("8", 17, False),  # none is as large
    ],
)
def test_room_is_left_on_some_of_like_members_where_it_cannot_be_spread_too_thin(
    nodes: str, need: int, enough: bool | None
) -> None:
    text = (
        f"coherence: 1\ncomponents:\n  node: {{copies: {nodes}, cpu: 16}}\n"
        f"  batch: {{copies: 8, needs: {{cpu: 11}}, runs_on: node}}\n"
        f"  web: {{copies: 0, needs: {{cpu: {need}}}, runs_on: node}}\n"
    )
    assert room_for_one(known(Subject(read_text(text), {})), "web", 0).enough is enough


def test_what_is_not_stated_is_named() -> None:
    text = "coherence: 1\ncomponents: {web: {copies: 2}, job: {copies: 1, needs: {gpu: 1}}}\n"
    facts = known(Subject(read_text(text), {}))
    assert room_for_one(facts, "web", 1).missing == "what one copy of web needs, and the capacity left (needs: of web)"
    assert room_for_one(facts, "job", 1) == Room(None, "the capacity of gpu that job draws on")
    assert supplies(facts, facts.design.components["job"], "gpu") == ""


def test_a_need_in_one_unit_names_its_resource() -> None:
    text = "coherence: 1\ncomponents: {web: {copies: 2, needs: 4 cpu}}\n"
    needs = needed(read_text(text).components["web"])
    assert {resource: quantity.low for resource, quantity in needs.items()} == {"cpu": Fraction(4)}


CLAIMED = """
coherence: 1
infrastructure: {{tiers: {{gpu: {{count: {count}}}}}}}
components: {{web: {{copies: {copies}, runs_on: gpu}}}}
claims: {{{key}: {each} * web.copies + {by} * batch.running - {off} * batch.paused}}
loops:
  fill:
    trigger: x.go > 1
    actuation: {{signal: batch.running, law: step, by: 1, bounds: [{low}, {high}], from: {low}}}
  hold: {{trigger: x.no > 1, actuation: {{signal: batch.paused, law: step, by: 1, bounds: [0, {paused}], from: 0}}}}
"""


def test_claims_leave_room_for_one_more_as_each_state_of_them_does() -> None:
    draw = random.Random(212)  # noqa: S311  # drawn designs
    answers = set()
    for _ in range(150):
        copies, each, by, off = draw.randint(1, 4), draw.randint(1, 3), draw.randint(1, 2), draw.randint(0, 1)
        low, high, paused = draw.randint(0, 2), draw.randint(2, 5), draw.randint(0, 3)
        count, key = draw.randint(4, 22), draw.choice(["gpu", "gpu.count"])
        text = CLAIMED.format(
            copies=copies, each=each, by=by, off=off, low=low, high=high, paused=paused, count=count, key=key
        )
        facts = known(Subject(read_text(text), {}))
        found = room_on_tier(facts, facts.design.components["web"], copies)
        fits = [
            each * (copies + 1) + by * running - off * rest <= count
            for running in range(low, high + 1) for rest in range(paused + 1)
        ]  # fmt: skip
        assert found is not None
        assert found.enough is all(fits), text
        assert found.enough or found.sure is not any(fits), text
        answers.add((found.enough, found.sure))
    assert len(answers) >= 3
