"""Lays places of shares inside devices beside a search of all ways to place them."""

import random
import re
from collections import Counter
from fractions import Fraction

import pytest

from coherence.base import solver
from coherence.base.errors import InputError
from coherence.language.reading import read_text
from coherence.verify.facts.tier_shares import packing, patterns


def fits(members: list[Fraction], free: tuple[Fraction, ...]) -> bool:
    """Places one member after the other, in every device that has room for it."""
    if not members:
        return True
    rooms = {room for room in free if room >= members[0]}
    for room in rooms:
        left = list(free)
        left[left.index(room)] -= members[0]
        if fits(members[1:], tuple(left)):
            return True
    return False


@pytest.mark.parametrize("seed", range(4))
def test_places_are_those_that_a_search_of_all_ways_has(seed: int) -> None:
    chance = random.Random(seed)  # noqa: S311
    seen = set()
    for _ in range(40):
        shares = [Fraction(chance.randint(1, 6), 7) for _ in range(chance.randint(1, 7))]
        devices = chance.randint(1, 5)
        sizes = Counter(shares)
        answer = solver.unsat(packing(sizes, devices), timeout_ms=5000)
        expected = fits(sorted(shares, reverse=True), (Fraction(1),) * devices)
        assert answer.unsat is not expected, (shares, devices)
        if expected:
            values = {name: int(value) for name, value in re.findall(r"(way_\d+) = (\d+)", answer.model)}
            assert solver.unsat(packing(sizes, devices, values), timeout_ms=5000).unsat
            assert not solver.unsat(packing(sizes, devices, dict.fromkeys(values, 0)), timeout_ms=5000).unsat
        seen.add(expected)
    assert seen == {True, False}


def test_a_device_is_filled_in_few_ways() -> None:
    sevenths = {Fraction(k, 7): 9 for k in (1, 2, 3, 4)}
    assert Counter({Fraction(4, 7): 1, Fraction(3, 7): 1}) in patterns(sevenths)
    assert all(sum(size * many for size, many in way.items()) <= 1 for way in patterns(sevenths))
    assert len(patterns(sevenths)) == 11


@pytest.mark.parametrize("devices", ["0", "3/2", "1.5", "-1", "1/0"])
def test_what_is_no_number_of_devices_is_an_error(devices: str) -> None:
    text = "coherence: 1\ninfrastructure: {tiers: {a: {count: 2}}}\ncomponents: {c: {runs_on: {tier: a, devices: X}}}\n"
    with pytest.raises(InputError):
        read_text(text.replace("X", devices), "d")


def test_devices_of_no_tier_are_an_error() -> None:
    with pytest.raises(InputError, match=r"did you mean .hopper."):
        read_text(
            "coherence: 1\ninfrastructure: {tiers: {hopper: {count: 2}}}\n"
            "components: {c: {runs_on: {tier: hoper, devices: 1}}}\n",
            "d",
        )
