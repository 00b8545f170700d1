"""Every bound of the registry keeps what it says: examples, units, direction, proofs, witness and its page."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest

from coherence.base import solver, units
from coherence.base.errors import UsageError
from coherence.minimums.assumptions import ASSUMPTIONS
from coherence.minimums.bound import Bound, Example, ProofGrade, Status, Symbol, Trend
from coherence.minimums.floors import at
from coherence.minimums.formulas import dimension, latex, symbols_of
from coherence.minimums.registry import bounds, entries

SECTIONS = ("## What", "## Why it matters", "## Example", "## Source")
BOUNDS = pytest.mark.parametrize("bound", bounds(), ids=lambda bound: bound.name)
LONG_PROOFS = {  # seconds each
    "age_of_information", "agreement_rounds", "barrier_exponential", "early_stopping_rounds", "one_round_read_servers",
    "set_agreement_rounds",
}  # fmt: skip
FACTORS = (0.25, 0.5, 0.8, 0.95, 1.01, 1.25, 2.0, 4.0)


@BOUNDS
def test_examples_have_their_known_values(bound: Bound) -> None:
    assert bound.examples
    for example in bound.examples:
        assert float(at(bound, example.inputs)) == pytest.approx(example.value, rel=max(example.rtol, 1e-15), abs=0)
        assert example.source


@BOUNDS
def test_the_formula_uses_its_symbols_and_has_the_unit_that_is_said(bound: Bound) -> None:
    assert bound.formula or bound.compute is not None, "a formula or a computation; beside each other they are compared"
    known = {symbol.name: symbol.dimension for symbol in bound.symbols}
    if bound.formula:
        assert set(symbols_of(bound.formula)) == set(known)
        wanted = units.unit(bound.unit)[1] if bound.unit != "1" else units.ONE
        assert dimension(bound.formula, known).physical == wanted.physical
        assert latex(bound.formula)
    if bound.valid:
        assert set(symbols_of(bound.valid)) <= set(known)


@BOUNDS
def test_it_moves_with_its_symbols_as_it_says(bound: Bound) -> None:
    for symbol in bound.symbols:
        if symbol.way is Trend.NEITHER or symbol.way is Trend.LIST:
            continue
        compared = sum(_compared(bound, symbol, example, factor) for example in bound.examples for factor in FACTORS)
        assert compared, f"no point beside an example of {symbol.name} lies in its range"


def _compared(bound: Bound, symbol: Symbol, example: Example, factor: float) -> bool:
    """Is the bound at a larger or smaller value of the symbol on the side that is said?  False: no such point."""
    before = example.inputs[symbol.name]
    moved = before * Fraction(factor).limit_denominator(64) if before else Fraction(max(0, round(factor)))
    moved = math.ceil(moved) if symbol.whole and factor > 1 else math.floor(moved) if symbol.whole else moved
    if moved == before:
        return False
    try:
        here, there = float(at(bound, example.inputs)), float(at(bound, {**example.inputs, symbol.name: moved}))
    except UsageError:
        return False  # outside the range of validity
    rises = (there >= here) if moved > before else (there <= here)
    falls = (there <= here) if moved > before else (there >= here)
    near = abs(there - here) <= 1e-12 * (1 + abs(here))
    assert near or (rises if symbol.way is Trend.RISES else falls), (
        f"{symbol.name}: {here} at {before}, {there} at {moved}"
    )
    return True


@BOUNDS
def test_its_assumptions_and_what_remains_without_them_are_known(bound: Bound) -> None:
    assert set(bound.assumptions) <= set(ASSUMPTIONS)
    assert set(bound.without) <= set(bound.assumptions)
    assert set(bound.without.values()) <= set(entries())


@pytest.mark.parametrize(
    "bound",
    [pytest.param(bound, id=bound.name, marks=[pytest.mark.slow] * (bound.name in LONG_PROOFS)) for bound in bounds()],
)
def test_its_proofs_hold(bound: Bound) -> None:
    for proof in bound.proofs:
        found = proof.run()
        assert found.holds, f"{proof.says}: {found.words}"


@BOUNDS
def test_its_witness_attains_it_within_the_gap_and_never_beats_it(bound: Bound) -> None:
    if bound.kind is Status.TIGHT:
        assert bound.witness is not None, "a tight bound has a schedule that attains it"
    if bound.witness is None:
        return
    for example in bound.examples:
        floor, attained = float(at(bound, example.inputs)), float(bound.witness.attained(example.inputs))
        assert attained >= floor * (1 - 1e-9)
        assert attained <= floor * bound.witness.gap * (1 + 1e-9)


@pytest.mark.parametrize("name", entries())
def test_its_page_has_every_section(name: str) -> None:
    page = entries()[name].page
    assert [section for section in SECTIONS if section in page] == list(SECTIONS)
    assert "\n" in page
    assert ": " in page.splitlines()[0]


@pytest.mark.parametrize("bound", [b for b in bounds() if any(p.grade is ProofGrade.UNIVERSAL for p in b.proofs)],
                         ids=lambda bound: bound.name)  # fmt: skip
def test_what_is_proved_for_all_inputs_is_proved_by_a_second_solver(bound: Bound) -> None:
    scripts = [(proof, proof.run().script) for proof in bound.proofs if proof.grade is ProofGrade.UNIVERSAL]
    assert any(script for _, script in scripts), "only one program has proved it for all inputs"
    for proof, script in scripts:
        assert script or proof.how == "identity", proof.says
        assert not script or solver.recheck(script, timeout_ms=60_000).unsat, proof.says


UNIVERSAL = [b for b in bounds() if any(p.grade is ProofGrade.UNIVERSAL and p.how == "smt" for p in b.proofs)]


@pytest.mark.parametrize("bound", UNIVERSAL, ids=lambda bound: bound.name)
def test_what_a_universal_proof_takes_for_granted_is_possible(bound: Bound) -> None:
    """Without its last assertion, which denies what is proved, each script has a solution."""
    for proof in bound.proofs:
        if proof.grade is ProofGrade.UNIVERSAL and proof.how == "smt":
            for script in proof.run().script.split(solver.RESET):
                asserted = [line for line in script.splitlines() if line.startswith("(assert")]
                given = script.replace(f"{asserted[-1]}\n", "")
                assert solver.unsat(given, timeout_ms=60_000).outcome is solver.Outcome.SAT, given


OF_DESIGNS = [
    bound
    for bound in bounds()
    if bound.applies or bound.name in ("recovery_time", "sampled_gain", "stale_updates", "lost_readings")
]


def test_bounds_that_designs_have_are_proved_for_all_inputs() -> None:
    """All but those of roots of polynomials, and of a chain with any number of servers."""
    named = {b.name for b in OF_DESIGNS if not any(proof.grade is ProofGrade.UNIVERSAL for proof in b.proofs)}
    assert named == {"sampled_gain", "stale_updates", "erlang_wait", "wait_beyond"}
    assert len(OF_DESIGNS) - len(named) >= 20
