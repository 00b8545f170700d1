"""Operating points of a group's laws, and what is said of starts that were not tried."""

from __future__ import annotations

from fractions import Fraction

import pytest

from coherence.language.reading import read_text
from coherence.loops.analysis.design_analysis import analysed
from coherence.loops.designs.feedback_groups import Deadline
from coherence.loops.designs.operating_points import MOST_STARTS, Points, operating_points
from coherence.model.elaborate import elaborate
from coherence.model.model import Model
from coherence.simulate.execute.starts import corners


def tanks(count: int) -> Model:
    """Returns so many tanks, each with its own valve; one loop looks at all of them."""
    flows = "".join(
        f'  t{k}: {{state: "level\' = (t{k - 1 if k else count - 1}.level - 2 * t{k}.level + valve.open) / 10 s", '
        f"from: 1 .. 3}}\n"
        for k in range(count)
    )
    law = 'law: set, to: "4 - 0.1 * t0.level"'
    return elaborate(
        read_text(
            f"coherence: 1\ncomponents:\n{flows}loops:\n  ctl:\n    timescale: {{period: 2 s, phase: 0 s}}\n"
            f"    trigger: always\n    actuation: {{signal: valve.open, {law}, bounds: [0, 100], from: 1}}\n"
        )
    )


def points(model: Model) -> Points:
    first = next(iter(corners(model)))
    return operating_points(model, first, [{"valve.open": Fraction(1)}], Deadline(60.0))


def test_all_starts_of_a_small_group_are_tried() -> None:
    known = points(tanks(1))
    assert not known.left_out
    (point,) = known.points
    assert dict(point.values) == {"t0.level": Fraction(40, 11), "valve.open": Fraction(40, 11)}


def test_starts_beyond_the_first_are_told() -> None:
    """Two ends and a middle of each level, three of the valve: 3 ** 4 starts."""
    known = points(tanks(3))
    assert known.left_out == f"from starts beyond the first {MOST_STARTS}"
    assert len(known.points) == 1


@pytest.mark.slow
def test_an_analysis_says_that_there_may_be_further_points() -> None:
    (group,) = analysed(tanks(3)).groups
    (note,) = [note for note in group.notes if note.startswith("undecided whether")]
    assert note.endswith("none was looked for from starts beyond the first 24")
