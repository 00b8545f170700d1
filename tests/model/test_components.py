"""Workloads and components in a model: constants, plants, outputs, and the mathematics of their parts."""

from __future__ import annotations

from fractions import Fraction

import pytest

from coherence.base.errors import InputError
from coherence.language.reading import read_text
from coherence.model.components import add_component, add_workload
from coherence.model.draft import ModelDraft
from coherence.model.elaborate import elaborate
from coherence.model.model import EVERYTHING, Interval

TEXT = """\
coherence: 1
workload:
  clients: {rate: 10 req/s}
components:
  tank: {state: "level' = inflow - level / (4 s)", from: 2 req, inflow: 1 req/s .. 3 req/s, double: 2 * level}
  clock: {state: "n' = n + 1", step: 5 s, from: 0}
  worker: {copies: 3, takes: {task: 4 s}}
"""


def drafted(text: str) -> ModelDraft:
    design = read_text(text, "d.yaml")
    draft = ModelDraft(design)
    for name in design.workload:
        add_workload(draft, name)
    for component in design.components.values():
        add_component(draft, component)
    return draft


def test_a_workload_is_a_constant_rate_and_the_attempts_that_follow() -> None:
    draft = drafted(TEXT)
    assert draft.constants["clients.rate"].range == Interval(Fraction(10), Fraction(10))
    assert "clients.attempts" in draft.outputs
    assert any("retries do not add load" in note for note in draft.abstractions)


def test_a_plant_flows_without_a_step_and_jumps_with_one() -> None:
    draft = drafted(TEXT)
    tank, clock = draft.states["tank.level"], draft.states["clock.n"]
    assert tank.next is None
    assert tank.flow is not None
    assert tank.initial == Interval(Fraction(2), Fraction(2))
    assert clock.flow is None
    assert clock.next is not None
    assert (clock.step, clock.range) == (Fraction(5), EVERYTHING)


def test_values_are_constants_and_formulas_are_outputs() -> None:
    draft = drafted(TEXT)
    assert draft.constants["tank.inflow"].range == Interval(Fraction(1), Fraction(3))
    assert draft.constants["worker.copies"].range == Interval(Fraction(3), Fraction(3))
    assert draft.constants["worker.task"].range == Interval(Fraction(4), Fraction(4))
    assert "tank.double" in draft.outputs


def test_a_plant_without_a_start_is_a_gap() -> None:
    (gap,) = drafted(TEXT.replace(", from: 0}", "}")).gaps
    assert (gap.of, gap.needs) == ("clock", "the initial value of clock.n (`from:`)")


def test_outputs_that_read_each_other_at_one_instant_are_refused() -> None:
    text = "coherence: 1\ncomponents:\n  a: {x: '2 * b.y'}\n  b: {y: a.x + 1}\n"
    with pytest.raises(InputError, match=r"algebraic loop: a\.x -> b\.y -> a\.x"):
        elaborate(read_text(text, "d.yaml"))
    elaborate(read_text(text.replace("2 * b.y", "delayed(b.y, 1 s)"), "d.yaml"))
