"""What flows by its own level ends where proofs say that it may: exponentials, and levels that are filled up to."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from coherence.language.reading import read_text
from coherence.model.elaborate import elaborate
from coherence.model.model import Interval, Model
from coherence.verify.promises.decisions import condition_of, decide
from coherence.verify.promises.outcomes import Proved
from coherence.verify.systems.bent_flows import bent_flows, compares_curves, enclosed
from coherence.verify.systems.cases import exactly
from coherence.verify.systems.terms import Term, add, constant, scaled, unit

OPEN = Interval(None, None)


@example(1, Fraction(1, 13602639399), 0, Fraction(1, 50))
@given(st.integers(-9, 9), st.fractions(-2, 2), st.integers(-9, 9), st.fractions(Fraction(1, 50), 3))
def test_an_exponential_ends_within_the_rows(inflow: int, factor: Fraction, level: int, seconds: Fraction) -> None:
    def rate(of: str) -> Term:
        return add(constant(inflow), scaled(unit(of), factor))

    grown = math.expm1(float(factor * seconds))
    end = level + level * grown + inflow * (grown / float(factor) if factor else float(seconds))
    values = {"x": Fraction(level), "x later": Fraction(end)}
    rates = exactly(rate("x")), exactly(rate("x later"))
    cases = enclosed(unit("x"), "x later", rates, lambda amount: exactly(scaled(amount, seconds)), OPEN)
    near = 1e-6 * (1 + abs(end)) * (1 + float(seconds)) * (1 + abs(float(factor)))
    assert any(all(float(row.at(values)) <= near for row, _ in case.guard.rows()) for case in cases)


def model(state: str, promise: str = "always tank.level <= 9", *, loops: str = "") -> Model:
    text = f'coherence: 1\ncomponents:\n  tank: {{state: "level\' = {state}", from: 0}}\n'
    text += '  other: {state: "size\' = 1 / 1 s", from: 0}\n'
    return elaborate(read_text(f"{text}{loops}promises: {{room: {promise}}}\n"))


@pytest.mark.parametrize(
    ("state", "bent"),
    [
        ("(8 - level) / 3 s", True),
        ("min(1 / 1 s, (8 - level) / 3 s)", True),
        ("1 / 1 s", False),
        ("(8 - level - other.size) / 3 s", False),
        ("1 / 1 s if level < 4 else 0 / 1 s", False),
    ],
)
def test_a_flow_bends_that_reads_its_own_level_without_a_jump(state: str, bent: bool) -> None:
    assert ("tank.level" in bent_flows(model(state))) is bent


def test_a_curve_is_not_compared_with_another_flow() -> None:
    apart, together = (
        model("(8 - level) / 3 s", f"always {of} <= 9") for of in ("tank.level", "tank.level + other.size")
    )
    assert not compares_curves(apart, condition_of(apart, apart.promises["room"]))
    assert compares_curves(together, condition_of(together, together.promises["room"]))


HEATED = """loops:
  thermostat:
    timescale: {period: 10 s}
    rules: [{when: tank.level > 6, to: 0}, {when: tank.level < 4, to: 1}]
    actuation: {signal: pump.on, bounds: [0, 1], from: 0}
"""


@pytest.mark.parametrize(("most", "proved"), [("6.7", True), pytest.param("6.6", False, marks=pytest.mark.slow)])
def test_a_thermostat_goes_as_far_beyond_its_mark_as_a_period_allows(most: str, proved: bool) -> None:
    """From just 6 on it warms towards 10 for 10 s: to 10 - 4 exp(-1/6) = 6.614."""
    heated = model("(pump.on * 10 - level) / 60 s", f"always tank.level <= {most}", loops=HEATED)
    outcome = decide(heated, heated.promises["room"], time_limit=6)
    assert isinstance(outcome, Proved) is proved


@pytest.mark.parametrize(("most", "proved"), [(8, True), (7, False)])
def test_what_no_loop_looks_at_rests_where_it_flows_to(most: int, proved: bool) -> None:
    rests = model("(8 - level) / 3 s", f"always tank.level <= {most}")
    assert isinstance(decide(rests, rests.promises["room"], time_limit=4), Proved) is proved
