"""Laps of loops that step one signal, held against every run followed one by one."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coherence.base.solver import unsat
from coherence.findings.finding import Verdict
from coherence.findings.question_input import Subject
from coherence.language.reading import read_text
from coherence.verify.actions.step_cycles import MOST_VALUES
from coherence.verify.patterns.writers import livelock
from tests.draws import few

STEPS = st.integers(1, 5)
LEVELS = st.integers(0, 24).map(lambda n: Fraction(n, 2))


def design(low: Fraction, up: int, high: Fraction, down: int, start: Fraction | None) -> str:
    begin = f", from: {float(start)}" if start is not None else ""
    acts = "actuation: {signal: pool.n, law: step, bounds: [0, 12]"
    return f"""coherence: 1
loops:
  up: {{trigger: pool.n < {float(low)}, {acts}, by: {up}{begin}}}}}
  down: {{trigger: pool.n > {float(high)}, {acts}, by: {-down}{begin}}}}}
"""


def verdicts(text: str) -> set[Verdict]:
    return {finding.verdict for finding in livelock.ask(Subject(read_text(text, "d.yaml")))}


def goes_round(low: Fraction, up: int, high: Fraction, down: int, start: Fraction) -> bool:
    """Whether the run from a start comes back to where it was without resting."""
    x, seen = start, set[Fraction]()
    while x not in seen:
        seen.add(x)
        step = up if x < low else -down if x > high else 0
        after = min(max(x + step, Fraction(0)), Fraction(12))
        if after == x:
            return False
        x = after
    return True


@settings(max_examples=few(150), deadline=None)
@given(LEVELS, STEPS, LEVELS, STEPS, LEVELS)
def test_a_stated_start_is_decided_as_its_run_goes(
    low: Fraction, up: int, gap: Fraction, down: int, start: Fraction
) -> None:
    high = low + gap
    found = verdicts(design(low, up, high, down, start))
    if goes_round(low, up, high, down, start):
        assert found == {Verdict.CONFLICT}
    else:
        assert Verdict.CONFLICT not in found


@settings(max_examples=few(80), deadline=None)
@given(LEVELS, STEPS, LEVELS, STEPS)
def test_no_proof_stands_where_some_start_goes_round(low: Fraction, up: int, gap: Fraction, down: int) -> None:
    high = low + gap
    if any(goes_round(low, up, high, down, Fraction(n, 8)) for n in range(97)):
        assert Verdict.PROVED not in verdicts(design(low, up, high, down, None))


@pytest.mark.slow
@settings(max_examples=few(80), deadline=None)
@given(LEVELS, STEPS, LEVELS, STEPS)
def test_a_start_that_is_not_said_is_decided_as_the_runs_from_all_starts_go(
    low: Fraction, up: int, gap: Fraction, down: int
) -> None:
    high = low + gap
    whole_starts = [goes_round(low, up, high, down, Fraction(n)) for n in range(13)]
    between = [goes_round(low, up, high, down, Fraction(n, 8)) for n in range(97)]
    (finding,) = livelock.ask(Subject(read_text(design(low, up, high, down, None), "d.yaml")))
    if any(whole_starts):
        assert finding.verdict is Verdict.CONFLICT
        assert finding.certainty == ("certain" if all(between) else "possible")
    else:
        assert finding.verdict is (Verdict.UNDECIDED if any(between) else Verdict.PROVED)


def test_an_open_signal_is_decided_at_every_value() -> None:
    text = """coherence: 1
loops:
  up: {trigger: web.work / pool.n >= 0.8, actuation: {signal: pool.n, law: step, by: 5, bounds: [2, 8], from: 2}}
  down: {trigger: web.work / pool.n <= 0.5, actuation: {signal: pool.n, law: step, by: -4, bounds: [2, 10], from: 2}}
"""
    (finding,) = livelock.ask(Subject(read_text(text, "d.yaml")))
    assert finding.verdict is Verdict.CONFLICT
    assert finding.certainty == "possible"
    assert "goes from 4 to 8" in finding.message


def test_a_proof_carries_scripts_that_a_solver_confirms() -> None:
    text = """coherence: 1
loops:
  up: {trigger: web.work / pool.n > 1, actuation: {signal: pool.n, law: step, by: 1, bounds: [2, 6], from: 2}}
  down: {trigger: web.work / pool.n < 0.5, actuation: {signal: pool.n, law: step, by: -1, bounds: [2, 6], from: 2}}
"""
    (finding,) = livelock.ask(Subject(read_text(text, "d.yaml")))
    assert finding.verdict is Verdict.PROVED
    scripts = (finding.evidence.certificate or "").split("(reset)\n")
    assert len(scripts) > 5
    assert all(unsat(script, timeout_ms=2_000).unsat for script in scripts)


def test_a_lattice_with_too_many_values_is_left_to_the_solver() -> None:
    text = design(Fraction(0), 1, Fraction(0), 1, None).replace("[0, 12]", f"[0, {10 * MOST_VALUES}]")
    assert Verdict.CONFLICT not in verdicts(text)


def test_a_start_outside_the_bounds_is_no_proof_of_rest() -> None:
    assert Verdict.PROVED not in verdicts(design(Fraction(5), 4, Fraction(11, 2), 3, Fraction(20)))
