"""No floor of the registry lies above a witness or the cost of a scheme of the same quantity, and none is bare."""

from __future__ import annotations

import re
from fractions import Fraction

import pytest

from coherence.base.errors import UsageError
from coherence.minimums.bound import Bound, Role, Status
from coherence.minimums.floors import at
from coherence.minimums.registry import bounds

FLOORS = [bound for bound in bounds() if bound.stands]
CITED = re.compile(r"\b(1[89]|20)\d\d\b")
# a quantity of a scheme, that of the same thing without the scheme
SCHEMES = re.compile(r"( by halving and doubling| by a ring| with pre-copy)$")


def quantity(bound: Bound) -> str:
    """What it is a number of, whatever the scheme; means of waits are those of one station in all their names."""
    return SCHEMES.sub("", bound.quantity).removeprefix("largest ")


@pytest.mark.parametrize("bound", bounds(), ids=lambda bound: bound.name)
def test_no_floor_of_its_quantity_lies_above_what_it_attains(bound: Bound) -> None:
    """At the examples of the bound, each floor of its quantity whose symbols they give, whatever its kind."""
    for example in bound.examples:
        attained = [float(at(bound, example.inputs))] if bound.role is Role.FLOOR else []
        if bound.witness is not None:
            attained.append(float(bound.witness.attained(example.inputs)))
        for floor in FLOORS:
            if quantity(floor) != quantity(bound) or not set(floor.names) <= set(example.inputs):
                continue
            if floor.assumptions and not set(floor.assumptions) <= set(bound.assumptions):
                continue  # what attains it may break an assumption of the floor
            try:
                low = float(at(floor, {name: example.inputs[name] for name in floor.names}))
            except UsageError:
                continue
            assert all(low <= value * (1 + 1e-9) for value in attained), f"{floor.name} is {low}, attained {attained}"


@pytest.mark.parametrize("bound", bounds(), ids=lambda bound: bound.name)
def test_a_theorem_has_a_proof_or_a_citation(bound: Bound) -> None:
    """What is defined (a point such as a cost) needs neither."""
    if bound.kind.floor and bound.role is not Role.POINT:
        assert bound.proofs or CITED.search(bound.source), f"{bound.source}: no year, no proof"


def test_the_comparison_compares() -> None:
    """The schemes of an all-reduce stand beside its floors, and a floor that is too high is found."""
    rings = [bound for bound in bounds() if quantity(bound) == "time of one all-reduce"]
    assert {Status.TIGHT, Status.THEOREM, Status.CLASS_COST} <= {bound.kind for bound in rings}
    ring = next(bound for bound in rings if bound.name == "all_reduce_ring")
    floor = next(bound for bound in rings if bound.name == "all_reduce_end_point")
    inputs = ring.examples[0].inputs
    high = {**{name: inputs[name] for name in floor.names}, "size": 100 * Fraction(inputs["size"])}
    assert at(floor, high) > at(ring, inputs)
