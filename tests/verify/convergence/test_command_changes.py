"""What a loop may give its command at one look: a step, what a window lets through, and what has no finite list."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

import pytest

from coherence.language.expressions.evaluate import NotExactError
from coherence.language.reading import read_text
from coherence.model.elaborate import elaborate
from coherence.model.model import Interval
from coherence.verify.convergence.command_changes import changes_of, holds_at, values_given
from coherence.verify.facts.ranges import point


def given(actuation: str, now: int, load: Interval) -> list[Fraction]:
    """Returns what the one loop of a design may give `web.copies`, which is `now`, at a load."""
    text = (
        "coherence: 1\ncomponents: {web: {copies: 5}}\n"
        f"loops: {{up: {{timescale: {{period: 1 min}}, trigger: users.load > 10, actuation: {{signal: web.copies, "
        f"{actuation}}}}}}}\n"
    )
    model = elaborate(read_text(text, "d.yaml"))
    (change,) = changes_of(model, model.loops[0], past=False)
    values: Mapping[str, Interval] = {"users.load": load, "web.copies": point(Fraction(now))}
    assert holds_at(change.seen, values) is not False
    return list(values_given(model, change, values, Fraction(now)))


HIGH = point(Fraction(12))


def test_a_step_gives_one_value_within_its_bounds() -> None:
    assert given("by: 2, bounds: [1, 10]", 5, HIGH) == [7]
    assert given("by: 2, bounds: [1, 10]", 9, HIGH) == [10]


def test_a_rate_lets_through_any_whole_value_up_to_the_step() -> None:
    assert given("by: 3, bounds: [1, 10], rate: {by: 4, per: 5 min, way: up}", 5, HIGH) == [5, 6, 7, 8]


def test_a_command_without_a_bound_has_no_finite_list() -> None:
    with pytest.raises(NotExactError):
        given("to: 2 * users.load", 5, Interval(Fraction(11), Fraction(20)))
