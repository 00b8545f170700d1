"""Lays the answer about places that several things share beside every order in which their members may come."""

from __future__ import annotations

import random
from itertools import product

import pytest

from coherence.findings.finding import Verdict
from coherence.findings.question_input import Subject
from coherence.language.reading import read_text
from coherence.verify.patterns.placement import placement_feasibility

State = tuple[tuple[int, ...], ...]


def refused(
    kinds: list[tuple[int, dict[str, int], set[int]]], rooms: list[dict[str, int]],
    caps: dict[int, tuple[int, list[int]]] | None = None,
) -> set[int]:  # fmt: skip
    """Returns the kinds of which, in some order and with some choice of places, a member finds none.

    `caps`: for some kinds how many may lie in one zone, and the zone of each place.
    """
    caps = caps or {}
    start: State = tuple(tuple(0 for _ in rooms) for _ in kinds)
    seen, todo, without = {start}, [start], set[int]()
    while todo:
        state = todo.pop()
        for k, (most, holds, spots) in enumerate(kinds):
            if sum(state[k]) == most:
                continue
            taken = [
                spot
                for spot in spots
                if all(
                    sum(state[j][spot] * kinds[j][1].get(name, 0) for j in range(len(kinds))) + need
                    <= rooms[spot].get(name, 0)
                    for name, need in holds.items()
                )
                and (
                    k not in caps
                    or sum(n for at, n in enumerate(state[k]) if caps[k][1][at] == caps[k][1][spot]) < caps[k][0]
                )
            ]
            without |= set() if taken else {k}
            for spot in taken:
                row = tuple(many + (at == spot) for at, many in enumerate(state[k]))
                after = (*state[:k], row, *state[k + 1 :])
                todo += [] if after in seen else [after]
                seen.add(after)
    return without


def answers(text: str) -> dict[str, Verdict]:
    subject = Subject(read_text(text, "drawn.yaml"))
    return {finding.of[0]: finding.verdict for finding in placement_feasibility.ask(subject)}


@pytest.mark.parametrize("seed", range(60))
def test_answers_are_those_of_every_order(seed: int) -> None:
    draw = random.Random(seed)  # noqa: S311
    resources = ["gpu", "cpu"][: draw.choice([1, 1, 2])]
    rooms = [{name: draw.randint(2, 5) for name in resources} for _ in range(draw.randint(1, 3))]
    kinds = []
    for _ in range(draw.randint(2, 3)):
        spots = {spot for spot in range(len(rooms)) if draw.random() < 0.8} or {0}
        kinds.append((draw.randint(1, 3), {name: draw.randint(1, 3) for name in resources}, spots))
    lines = ["coherence: 1", "components:"]
    for k, (most, holds, _) in enumerate(kinds):
        lines.append(f"  k{k}: {{copies: {most}, needs: {{{', '.join(f'{n}: {v}' for n, v in holds.items())}}}}}")
    lines.append("places:")
    for spot, room in enumerate(rooms):
        lines.append(f"  s{spot}: {{slot: p{spot}, {', '.join(f'{n}: {v}' for n, v in room.items())}}}")
    limited = [k for k, (_, _, spots) in enumerate(kinds) if len(spots) < len(rooms)]
    lines += ["placement:"] if limited else []
    lines += [f"  k{k}: [only on slot {' or '.join(f'p{spot}' for spot in sorted(kinds[k][2]))}]" for k in limited]
    told, truth = answers("\n".join(lines) + "\n"), refused(kinds, rooms)
    for k, _ in enumerate(kinds):
        verdict = told.get(f"k{k}")
        if verdict is not None and verdict is not Verdict.UNDECIDED:
            assert (verdict is Verdict.CONFLICT) == (k in truth), (k, "\n".join(lines))


@pytest.mark.parametrize("seed", range(60))
def test_caps_by_place_or_zone_are_those_of_every_order(seed: int) -> None:
    draw = random.Random(900 + seed)  # noqa: S311
    rooms = [{"gpu": draw.randint(2, 5)} for _ in range(draw.randint(2, 3))]
    zones = [draw.choice("ab") for _ in rooms]
    by_zone = draw.random() < 0.5
    kinds = [(draw.randint(1, 3), {"gpu": draw.randint(1, 3)}, set(range(len(rooms)))) for _ in range(2)]
    domains = [ord(zone) if by_zone else spot for spot, zone in enumerate(zones)]
    caps = {k: (draw.randint(1, 2), domains) for k in range(2) if k == 0 or draw.random() < 0.5}
    lines = ["coherence: 1", "components:"]
    lines += [f"  k{k}: {{copies: {most}, needs: {{gpu: {holds['gpu']}}}}}" for k, (most, holds, _) in enumerate(kinds)]
    lines += ["places:", *(f"  s{k}: {{zone: {zones[k]}, gpu: {room['gpu']}}}" for k, room in enumerate(rooms))]
    by = "zone" if by_zone else "node"
    lines += ["placement:", *(f"  k{k}: [at most {most} by {by}]" for k, (most, _) in caps.items())]
    told, truth = answers("\n".join(lines) + "\n"), refused(kinds, rooms, caps)
    wanted = sum(most * holds["gpu"] for most, holds, _ in kinds)
    passed = wanted > sum(room["gpu"] for room in rooms)  # then COH211 answers
    for k, (most, holds, _) in enumerate(kinds):
        verdict, alone = told.get(f"k{k}"), sum(room["gpu"] // holds["gpu"] for room in rooms)
        assert verdict is not Verdict.UNDECIDED or passed or alone < most, "\n".join(lines)
        if verdict not in (None, Verdict.UNDECIDED):
            assert (verdict is Verdict.CONFLICT) == (k in truth), (k, "\n".join(lines))


def test_most_drawn_designs_are_decided() -> None:
    decided = 0
    for gpus, small, large in product((3, 4), (1, 2), (2, 3, 4)):
        told = answers(
            f"coherence: 1\ncomponents:\n  small: {{copies: {small}, needs: {{gpu: 1}}}}\n"
            f"  large: {{copies: 1, needs: {{gpu: {large}}}}}\nplaces: {{n: {{count: 2, gpu: {gpus}}}}}\n"
        )
        kinds = [(small, {"gpu": 1}, {0, 1}), (1, {"gpu": large}, {0, 1})]
        truth = refused(kinds, [{"gpu": gpus}] * 2)
        for k, name in enumerate(("small", "large")):
            if name in told:
                decided += 1
                assert (told[name] is Verdict.CONFLICT) == (k in truth)
    assert decided > 15
