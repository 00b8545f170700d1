"""No adversary beats a bound inside its assumptions; what beats it without one shows that the one is listed."""

from __future__ import annotations

import re
from functools import cache

import pytest

from coherence.minimums.adversaries import (
    answers,
    ceilings,
    chains,
    clocks,
    counted,
    dispatch,
    drifting,
    evictions,
    exchanges,
    knowledge,
    loops,
    members,
    online,
    orders,
    points,
    protocols,
    readings,
    registers,
    rooms,
    savings,
    settling,
    shares,
    updates,
    wires,
)
from coherence.minimums.adversaries.search import (
    Adversary,
    Chooser,
    HopelessError,
    SearchResult,
    adversaries,
    attack,
    least_below,
    limit_of,
)
from coherence.minimums.bound import Inputs, Role, Status
from coherence.minimums.floors import Number
from coherence.minimums.registry import bounds, entry

NEAR = 0.06  # of a ceiling or a point: how near its model comes
CASES = [(one, bound, inputs) for one in adversaries() for bound, every in one.targets.items() for inputs in every]
IDS = [f"{bound}-{number}" for number, (_, bound, _) in enumerate(CASES)]
EACH = pytest.mark.parametrize(("adversary", "bound", "inputs"), CASES, ids=IDS)


@cache
def beyond(case: int, switch: str = "") -> SearchResult:
    return attack(*CASES[case], frozenset({switch} if switch else ()))


def test_the_modules_of_the_folder_are_the_adversaries() -> None:
    modules = (
        *(
            answers,
            ceilings,
            chains,
            clocks,
            counted,
            dispatch,
            drifting,
            evictions,
            exchanges,
            knowledge,
            loops,
            members,
            online,
            orders,
            points,
        ),
        *(protocols, readings, registers, rooms, savings, settling, shares, updates, wires),
    )
    assert sorted(one.says for one in adversaries()) == sorted(one.says for m in modules for one in m.ADVERSARIES)
    assert len({one.says for one in adversaries()}) == len(adversaries())


def test_every_floor_ceiling_and_point_is_attacked() -> None:
    attacked = {bound for one in adversaries() for bound in one.targets}
    assert [bound.name for bound in bounds() if bound.kind.floor and bound.name not in attacked] == []
    assert sorted(attacked) == sorted(bound.name for bound in bounds() if bound.name in attacked)


def test_every_floor_has_a_proof_or_a_citation() -> None:
    """A citation names a person or a law, and a year where somebody published it."""
    bare = [
        bound.name
        for bound in bounds()
        if bound.stands and not bound.proofs and not re.search(r"\d{4}|[A-Z][a-z]", bound.source)
    ]
    assert bare == []


@pytest.mark.parametrize("case", range(len(CASES)), ids=IDS)
def test_nobody_beats_a_bound_inside_its_assumptions(case: int) -> None:
    result = beyond(case)
    assert result.least is None, f"{CASES[case][0].says}: {result.least} beats the bound"
    assert result.runs


@pytest.mark.slow
@pytest.mark.parametrize("case", range(len(CASES)), ids=IDS)
def test_what_beats_it_without_an_assumption_shows_that_it_is_listed(case: int) -> None:
    adversary, bound, inputs = CASES[case]
    listed = entry(bound).bound
    for switch in adversary.switches:
        least = beyond(case, switch).least
        if least is None:
            continue
        assert switch in listed.assumptions, f"{bound} is beaten without {switch}: {least}"
        weaker = listed.without.get(switch)
        if weaker is not None and set(entry(weaker).bound.names) <= set(inputs):
            sign, remains = limit_of(weaker, {name: inputs[name] for name in entry(weaker).bound.names})
            assert sign > 0
            assert least >= remains * (1 - 1e-9), f"{weaker} is beaten without {switch}: {least} below {remains}"


@pytest.mark.slow
@pytest.mark.parametrize("adversary", adversaries(), ids=lambda one: one.says)
def test_every_switch_that_is_listed_beats_a_floor_somewhere(adversary: Adversary) -> None:
    """A switch that changes nothing tries nothing."""
    mine = [k for k, (one, _, _) in enumerate(CASES) if one is adversary]
    for switch in adversary.switches:
        assert any(beyond(k, switch).least is not None for k in mine), switch


@pytest.mark.slow
@EACH
def test_a_tight_floor_is_attained_by_a_run(adversary: Adversary, bound: str, inputs: Inputs) -> None:
    """Where all runs were played: what the model can do is what the floor says, so the model is no weaker than it."""
    own = entry(bound).bound
    if own.kind is not Status.TIGHT or own.role is not Role.FLOOR:
        return
    result = attack(adversary, bound, inputs, room=1e-4)
    if result.exhaustive:
        assert result.least == pytest.approx(float(limit_of(bound, inputs)[1]), rel=1e-4)


@pytest.mark.slow
@EACH
def test_a_ceiling_or_a_point_is_nearly_attained_by_a_run(adversary: Adversary, bound: str, inputs: Inputs) -> None:
    if entry(bound).bound.role is not Role.FLOOR:
        assert attack(adversary, bound, inputs, room=NEAR).least is not None


def test_every_sequence_of_answers_is_played_once() -> None:
    seen = []

    def play(choose: Chooser, bound: str, inputs: Inputs, dropped: frozenset[str]) -> Number:
        assert not inputs
        assert not dropped
        answers = (choose("ab"), choose("xyz"))
        seen.append(answers)
        if answers == ("a", "y"):
            raise HopelessError
        return len(bound) + len(seen)

    result = least_below(Adversary("letters", {}, play), "", {}, 100)
    assert (result.runs, result.exhaustive, len(set(seen))) == (6, True, 6)
    assert result.least == 1
