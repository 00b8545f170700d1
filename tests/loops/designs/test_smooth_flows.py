"""Limit cycles of flows with products, against closed forms and what is refused."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest

from coherence.language.reading import read_text
from coherence.loops.cycles.flows import ShapeError
from coherence.loops.designs.predicted_cycles import predicted_cycles
from coherence.loops.designs.smooth_flows import smooth_search
from coherence.model.elaborate import elaborate
from coherence.model.model import Model


def model(flows: dict[str, str], start: float = 0.5, more: str = "") -> Model:
    rows = "".join(f'  {name}: {{state: "x\' = {flow}", from: {start}{more}}}\n' for name, flow in flows.items())
    return elaborate(read_text(f"coherence: 1\ncomponents:\n{rows}"))


CIRCLE = {  # r' = r (1 - r^2), one turn in 2 pi seconds
    "a": "(a.x * (1 - a.x * a.x - b.x * b.x) - b.x) / 1 s",
    "b": "(b.x * (1 - a.x * a.x - b.x * b.x) + a.x) / 1 s",
}


@pytest.mark.slow
def test_a_circle_of_radius_one_is_found_and_confirmed_by_execution() -> None:
    (reading,) = predicted_cycles(model(CIRCLE))
    assert reading.period == pytest.approx(math.tau, rel=1e-7)
    assert reading.multiplier == pytest.approx(math.exp(-2 * math.tau), abs=1e-6)
    for _, low, high in reading.ranges:
        assert (low, high) == pytest.approx((-1, 1), abs=1e-6)
    assert reading.confirmed
    assert reading.attracts


@pytest.mark.slow
def test_a_product_that_comes_to_rest_has_no_cycle_and_no_proof_of_none() -> None:
    (reading,) = predicted_cycles(model({"a": "1.5 * a.x * (1 - delayed(a.x, 1 s)) / 1 s"}))  # 1.5 < pi / 2
    assert reading.verdict == "undecided"
    assert not reading.confirmed
    assert "rest" in reading.reason


def test_two_delays_beside_a_product_are_named() -> None:
    late = "delayed(a.x, 1 s) * delayed(a.x, 2 s)"
    with pytest.raises(ShapeError, match="delays of 1 s and 2 s"):
        smooth_search(model({"a": f"(1 - a.x * {late}) / 1 s"}), ["a.x"], {"a.x": Fraction(1, 2)})


def test_delays_add_up_through_outputs() -> None:
    text = (
        'coherence: 1\ncomponents:\n  a:\n    state: "x\' = 1.8 * a.x * (1 - a.late) / 1 s"\n    from: 0.5\n'
        '    late: "delayed(a.early, 0.5 s)"\n    early: "delayed(a.x, 0.5 s)"\n'
    )
    made = elaborate(read_text(text))
    answer = smooth_search(made, ["a.x"], {"a.x": Fraction(1, 2)})
    assert answer.attracting[0].period == pytest.approx(4.1835, rel=1e-4)  # May 1976: r = 1.8, delay 1


def test_two_delays_are_named_without_a_product_that_is_not_there() -> None:
    flows = {
        "a": "(min(-0.4 * a.x, -1.2 * delayed(a.x, 2 s)) + 0.3 * b.x) / 1 s",
        "b": "(0.5 * delayed(a.x, 1 s) - b.x) / 3 s",
    }
    levels = {"a.x": Fraction(1, 2), "b.x": Fraction(0)}
    with pytest.raises(ShapeError, match=r"delays of 1 s and 2 s: .* takes one delay") as error:
        smooth_search(model(flows), list(levels), levels)
    assert "product" not in str(error.value)
