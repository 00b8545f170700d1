"""Moving numbers: right-hand limits, times of turns, and tapes that repeat what was decided."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coherence.language.expressions.evaluate import NotExactError, evaluate
from coherence.language.expressions.tree import Tree
from coherence.simulate.execute.dual_numbers import Moving, Tape, Taped, Track
from tests.strategies import LITERALS, NAMES, numeric, points

F = Fraction


def moving(value: Any, slope: Any, track: Track) -> Any:
    return Moving(F(value), F(slope), track)


def test_a_tie_goes_where_the_slope_leads() -> None:
    track = Track(exact=True)
    rising, falling, resting = (moving(3, slope, track) for slope in (1, -1, 0))
    assert (rising > 3, falling > 3, resting > 3) == (True, False, False)
    assert (rising <= 3, falling < 3, resting <= 3) == (False, True, True)
    assert track.outcomes == [True, False, False, False, True, True]
    assert track.turns is None


def test_a_comparison_tells_when_it_turns() -> None:
    track = Track(exact=True)
    assert moving(3, 2, track) < 10
    assert track.turns == F(7, 2)
    assert min(moving(0, 1, track), moving(6, -1, track)).value == 0
    assert track.turns == 3


def test_integer_parts_turn_at_the_next_integer_on_the_way() -> None:
    track = Track(exact=True)
    assert math.floor(moving(F(5, 2), 1, track)) == 2
    assert track.turns == F(1, 2)
    assert math.ceil(moving(2, 1, track)) == 3
    assert math.floor(moving(2, -1, track)) == 1
    assert math.floor(moving(2, 1, track)) == math.ceil(moving(2, -1, track)) == 2


def test_products_of_what_moves_are_curved() -> None:
    track = Track(exact=True)
    one, other = moving(2, 3, track), moving(5, 0, track)
    assert (one * one).curved
    assert (1 / one).curved
    assert not (one * other).curved
    assert not (one / other).curved
    assert ((one * one).slope, (1 / one).slope) == (12, F(-3, 4))
    with pytest.raises(NotExactError):
        one.exp()


class World:
    """Names with values of any number type; nothing of the past."""

    def __init__(self, values: dict[str, Any]) -> None:
        self.values = values

    def value(self, path: str) -> Any:
        return self.values[path]

    def __getattr__(self, name: str) -> Any:
        raise NotExactError(name)


slopes = st.fixed_dictionaries({name: st.sampled_from(LITERALS) for name in NAMES})


@pytest.mark.slow
@settings(max_examples=100, deadline=None)
@given(numeric(division=False), points(), slopes)
def test_up_to_the_turn_the_branches_taken_are_those_of_the_tree(
    tree: Tree, point: dict[str, Fraction], speed: dict[str, Fraction]
) -> None:
    """Just after now, and until half of the time to the turn, the tape gives the tree's own value."""
    track = Track(exact=True)
    evaluate(tree, World({n: Moving(point[n], speed[n], track) for n in NAMES}))
    if track.curved:
        return
    for share in (F(1, 1000), F(1, 2)):
        after = share * (F(1) if track.turns is None else F(track.turns))
        later = {n: point[n] + speed[n] * after for n in NAMES}
        tape = Tape(track.outcomes)
        taped = evaluate(tree, World({n: Taped(float(later[n]), tape) for n in NAMES}))
        own = evaluate(tree, World(dict(later)))
        assert (taped.value if isinstance(taped, Taped) else float(taped)) == pytest.approx(float(own), abs=1e-9)
        assert tape.next == len(track.outcomes)
        assert all(guard >= -1e-9 for guard in tape.guards)
