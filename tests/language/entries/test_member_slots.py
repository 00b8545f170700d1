"""How many requests a member works on at once: limits of each member say it, others leave it open."""

from __future__ import annotations

import pytest

from coherence.language.entries.member_slots import member_slots
from coherence.language.reading import read_text


def slots(limits: str, copies: str = "4") -> tuple[int, int] | None:
    stated = f"copies: {copies}" if copies else ""
    design = read_text(f"coherence: 1\ncomponents: {{node: {{{stated}}}}}\nlimits: {{{limits}}}\n", "d.yaml")
    found = member_slots(design, "node")
    return None if found is None else (int(found.low), int(found.high))


@pytest.mark.parametrize(
    ("limits", "copies", "expected"),
    [
        ("a: {counts: node.waiting, at_most: 9, when_full: reject}", "4", (1, 1)),
        ("a: {counts: node.ongoing, at_most: 16, per: replica, when_full: wait}", "4", (16, 16)),
        ("a: {counts: node.running, at_most: 16, per: node, when_full: reject}", "4", (16, 16)),
        ("a: {counts: node.busy, at_most: 4 .. 8, per: pod, when_full: wait}", "4", (4, 8)),
        (
            "a: {counts: node.busy, at_most: 9, per: pod}, b: {counts: node.ongoing, at_most: 3, per: pod}",
            "4",
            (3, 3),
        ),
        ("a: {counts: node.ongoing, at_most: 16, when_full: wait}", "1", (16, 16)),
        ("a: {counts: node.ongoing, at_most: 16, when_full: wait}", "4", None),
        ("a: {counts: node.ongoing, at_most: 16, when_full: wait}", "1 .. 2", None),
        ("a: {counts: node.ongoing, at_most: 16, when_full: reject}", "", (16, 16)),
        ("a: {counts: node.ongoing, at_most: 16, per: tenant, when_full: wait}", "4", None),
        ("a: {counts: node.ongoing, at_most: 16, per: replica, window: 1 s, when_full: wait}", "4", None),
        ("a: {counts: node.ongoing, at_most: 16, per: replica, scope: one proxy}", "4", None),
        ("a: {counts: node.ongoing, at_least: 2, at_most: 16, per: replica}", "4", None),
        ("a: {counts: node.ongoing, at_most: 0, per: replica, when_full: wait}", "4", None),
    ],
)
def test_limits_of_one_member_say_how_many_it_works_on(
    limits: str, copies: str, expected: tuple[int, int] | None
) -> None:
    assert slots(limits, copies) == expected
