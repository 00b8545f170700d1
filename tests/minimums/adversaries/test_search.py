"""No adversary beats a floor inside its assumptions; what beats it without one shows that the one is listed."""

from __future__ import annotations

import math
import re
from fractions import Fraction
from functools import cache

import pytest

from coherence.minimums.adversaries import (
    chains,
    clocks,
    counted,
    evictions,
    exchanges,
    knowledge,
    loops,
    members,
    online,
    orders,
    protocols,
    readings,
    registers,
    rooms,
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
    least_below,
)
from coherence.minimums.bound import Inputs, Status
from coherence.minimums.floors import Number, at
from coherence.minimums.registry import bounds, entry

ROUNDING = 1e-9  # of floors and runs in floating point
CASES = [(one, bound, inputs) for one in adversaries() for bound, every in one.targets.items() for inputs in every]
IDS = [f"{bound}-{number}" for number, (_, bound, _) in enumerate(CASES)]
EACH = pytest.mark.parametrize(("adversary", "bound", "inputs"), CASES, ids=IDS)


def floor(bound: str, inputs: Inputs) -> Number:
    value = at(entry(bound).bound, inputs)
    return value if isinstance(value, int | Fraction) else value * (1 - ROUNDING)


@cache
def below(case: int, switch: str = "") -> SearchResult:
    adversary, bound, inputs = CASES[case]
    return least_below(adversary, bound, inputs, floor(bound, inputs), frozenset({switch} if switch else ()))


def test_the_modules_of_the_folder_are_the_adversaries() -> None:
    modules = (
        *(chains, clocks, counted, evictions, exchanges, knowledge, loops, members, online, orders, protocols),
        *(readings, registers, rooms, shares, updates, wires),
    )
    assert sorted(one.says for one in adversaries()) == sorted(one.says for m in modules for one in m.ADVERSARIES)
    assert len({one.says for one in adversaries()}) == len(adversaries())


def test_every_floor_is_attacked() -> None:
    attacked = {bound for one in adversaries() for bound in one.targets}
    assert [bound.name for bound in bounds() if bound.stands and bound.name not in attacked] == []
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
def test_nobody_beats_a_floor_inside_its_assumptions(case: int) -> None:
    result = below(case)
    assert result.least is None, f"{CASES[case][0].says}: {result.least} below the floor"
    assert result.runs


@pytest.mark.slow
@pytest.mark.parametrize("case", range(len(CASES)), ids=IDS)
def test_what_beats_it_without_an_assumption_shows_that_it_is_listed(case: int) -> None:
    adversary, bound, inputs = CASES[case]
    listed = entry(bound).bound
    for switch in adversary.switches:
        least = below(case, switch).least
        if least is None:
            continue
        assert switch in listed.assumptions, f"{bound} is beaten without {switch}: {least}"
        weaker = listed.without.get(switch)
        if weaker is not None and set(entry(weaker).bound.names) <= set(inputs):
            remains = floor(weaker, {name: inputs[name] for name in entry(weaker).bound.names})
            assert least >= remains, f"{weaker} is beaten without {switch}: {least} below {remains}"


@pytest.mark.slow
@pytest.mark.parametrize("adversary", adversaries(), ids=lambda one: one.says)
def test_every_switch_that_is_listed_beats_a_floor_somewhere(adversary: Adversary) -> None:
    """A switch that changes nothing tries nothing."""
    mine = [k for k, (one, _, _) in enumerate(CASES) if one is adversary]
    for switch in adversary.switches:
        assert any(below(k, switch).least is not None for k in mine), switch


@pytest.mark.slow
@EACH
def test_a_tight_floor_is_attained_by_a_run(adversary: Adversary, bound: str, inputs: Inputs) -> None:
    """Where all runs were played: what the model can do is what the floor says, so the model is no weaker than it."""
    value = at(entry(bound).bound, inputs)
    result = least_below(adversary, bound, inputs, math.nextafter(float(value) * (1 + 1e-4), math.inf))
    if entry(bound).bound.kind is Status.TIGHT and result.exhaustive:
        assert result.least == pytest.approx(float(value), rel=1e-4)


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
