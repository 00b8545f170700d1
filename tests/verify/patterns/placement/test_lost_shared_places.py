"""Lays the answer about places that go, on which several things lie, beside every order in which members come back."""

from __future__ import annotations

import random
from collections.abc import Iterator

import pytest

from coherence.findings.finding import Verdict
from coherence.findings.question_input import Subject
from coherence.language.reading import read_text
from coherence.verify.patterns.placement import place_loss

State = tuple[tuple[int, ...], ...]


def moves(state: State, kinds: list[tuple[int, int, int]], rooms: list[int]) -> Iterator[tuple[int, State]]:
    """Yields each kind of which a member finds a place, and the state after it; a kind: most, need, most on a place."""
    for k, (most, need, cap) in enumerate(kinds):
        for spot, room in enumerate(rooms):
            held = sum(row[spot] * kinds[j][1] for j, row in enumerate(state))
            if sum(state[k]) < most and state[k][spot] < cap and held + need <= room:
                row = tuple(many + (at == spot) for at, many in enumerate(state[k]))
                yield k, (*state[:k], row, *state[k + 1 :])


def reached(start: State, kinds: list[tuple[int, int, int]], rooms: list[int]) -> set[State]:
    seen, todo = {start}, [start]
    while todo:
        for _, after in moves(todo.pop(), kinds, rooms):
            if after not in seen:
                seen.add(after)
                todo.append(after)
    return seen


def refused_after_loss(kinds: list[tuple[int, int, int]], rooms: list[int], gone: int) -> set[int]:
    """Returns the kinds of which a member that lay on the place that goes finds none, in some order."""
    empty: State = tuple(tuple(0 for _ in rooms) for _ in kinds)
    left = [0 if spot == gone else room for spot, room in enumerate(rooms)]
    closed = [(most, need, cap) for most, need, cap in kinds]
    without = set[int]()
    for before in reached(empty, kinds, rooms):
        lost = tuple(tuple(0 if spot == gone else many for spot, many in enumerate(row)) for row in before)
        for state in reached(lost, closed, left):
            able = {k for k, _ in moves(state, closed, left)}
            without |= {
                k for k in range(len(kinds))
                if before[k][gone] and k not in able and sum(state[k]) < sum(before[k])
            }  # fmt: skip
    return without


@pytest.mark.parametrize("seed", range(40))
def test_answers_are_those_of_every_order(seed: int) -> None:
    draw = random.Random(seed)  # noqa: S311
    rooms = [draw.randint(1, 4) for _ in range(draw.randint(2, 3))]
    kinds = [(draw.randint(1, 2), draw.randint(1, 2), draw.choice([1, 9])) for _ in range(2)]
    gone = draw.randrange(len(rooms))
    lines = ["coherence: 1", "components:"]
    lines += [f"  k{k}: {{copies: {most}, needs: {{gpu: {need}}}}}" for k, (most, need, _) in enumerate(kinds)]
    lines += ["places:"]
    lines += [f"  s{spot}: {{gpu: {room}{', lost: 1' * (spot == gone)}}}" for spot, room in enumerate(rooms)]
    capped = [k for k, (_, _, cap) in enumerate(kinds) if cap == 1]
    lines += ["placement:", *(f"  k{k}: at most 1 by node" for k in capped)] if capped else []
    subject = Subject(read_text("\n".join(lines) + "\n", "drawn.yaml"))
    told = {finding.of[0]: finding.verdict for finding in place_loss.ask(subject)}
    truth = refused_after_loss(kinds, rooms, gone)
    for k in range(2):
        verdict = told.get(f"k{k}")
        if verdict not in (None, Verdict.UNDECIDED):
            assert (verdict is Verdict.CONFLICT) == (k in truth), (k, "\n".join(lines))


def test_most_drawn_designs_are_decided() -> None:
    texts = (
        f"coherence: 1\ncomponents: {{a: {{copies: {many}, needs: {{gpu: 1}}}}, b: {{copies: 2, needs: {{gpu: 1}}}}}}\n"
        f"places: {{n: {{count: {count}, gpu: 2, lost: 1}}}}\n"
        for many in (1, 2, 3) for count in (3, 4)
    )  # fmt: skip
    verdicts = [finding.verdict for text in texts for finding in place_loss.ask(Subject(read_text(text, "drawn.yaml")))]
    assert len(verdicts) == 12
    assert Verdict.UNDECIDED not in verdicts
