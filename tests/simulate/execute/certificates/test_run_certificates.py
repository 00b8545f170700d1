"""Certificates of runs that recur: refuted as they stand, and no longer once a number of the run is changed."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import pytest

from coherence.base.solver import recheck
from coherence.door.check import check
from coherence.language.reading import read_text
from coherence.model.elaborate import elaborate
from coherence.model.model import Model
from coherence.simulate.execute.certificates import run_certificates
from coherence.simulate.execute.certificates.run_certificates import certificate
from coherence.simulate.execute.exact import Choices
from coherence.simulate.execute.orbits import LongRun, long_run

SCALER = """
coherence: 1
components: {{web: {{load: 100, usage: load / desired}}}}
loops:
  hpa:
    timescale: {{period: 15 s{times}}}
    target: {{signal: {signal}, setpoint: 0.5, tolerance: 10 %}}
    actuation: {{signal: web.desired, law: proportional, bounds: [1, 1000], from: {start}{limits}}}
"""
TANK = """
coherence: 1
components: {tank: {state: "level' = max(0, level + pump.rate)", step: 1 s, from: 2}}
loops:
  fill: {rank: 1, timescale: {period: 1 s}, trigger: {enter: level <= 3, leave: level >= 9}, actuation: {}}
  drive:
    rank: 2
    timescale: {period: 1 s, lands: 2 s}
    rules: [{when: fill, to: 2}, {when: not fill, by: -1}]
    actuation: {signal: pump.rate, bounds: [-1, 2], from: 0}
"""


def scaler(*, times: str = "", signal: str = "web.usage", start: int = 120, limits: str = "") -> tuple[Model, LongRun]:
    return run_of(SCALER.format(times=times, signal=signal, start=start, limits=limits))


def run_of(text: str) -> tuple[Model, LongRun]:
    model = elaborate(read_text(text))
    run = long_run(model, Choices(), laps=120, most=2_000)
    assert run.orbit is not None
    return model, run


@pytest.mark.parametrize(
    ("times", "signal", "start"),
    [
        ("", "web.usage", 120),
        (", hold_down: 45 s", "web.usage", 900),
        (", hold_up: 30 s, cooldown: 20 s", "web.usage", 10),
        (", lands: 20 s", "'delayed(web.usage, 15 s)'", 120),
    ],
)
def test_a_run_that_recurs_is_confirmed_by_both_solvers(times: str, signal: str, start: int) -> None:
    script = certificate(*_listed(*scaler(times=times, signal=signal, start=start)))
    assert script is not None
    pytest.importorskip("cvc5")
    assert recheck(script).unsat


def test_relays_rules_states_and_landings_are_carried() -> None:
    model, run = run_of(TANK)
    script = certificate(model, [run])
    assert script is not None
    assert script.count("(=") > 20


def test_a_run_with_a_changed_number_has_no_certificate() -> None:
    for model, run in (scaler(), scaler(times=", hold_down: 45 s", start=900), run_of(TANK)):
        assert certificate(model, [run]) is not None
        for number, instant in enumerate(run.instants):
            if not instant.actions:
                continue
            action = replace(instant.actions[0], after=instant.actions[0].after + Fraction(1, 2))
            instants = [*run.instants]
            instants[number] = replace(instant, actions=(action, *instant.actions[1:]))
            assert certificate(model, [replace(run, instants=tuple(instants))]) is None


def test_a_certificate_that_no_solver_reads_is_told_as_malformed(monkeypatch: pytest.MonkeyPatch) -> None:
    text = SCALER.format(times="", signal="web.usage", start=120, limits="")
    assert any(finding.code == "COH301" for finding in check(text).proved)
    monkeypatch.setattr(run_certificates, "_script", lambda _claims: "(assert nothing)(check-sat)")
    answered = check(text)
    assert not any(finding.code == "COH301" for finding in answered.proved)
    messages = [finding.message for finding in answered.undecided]
    assert any(m.startswith("not decided: its certificate is malformed: z3: ") for m in messages), messages


def test_a_promise_that_the_run_breaks_has_no_certificate() -> None:
    model, run = scaler()
    right = read_text("coherence: 1\npromises: {p: eventually_always web.desired == 200}\n").promises["p"].condition
    wrong = read_text("coherence: 1\npromises: {p: eventually_always web.desired == 199}\n").promises["p"].condition
    assert right is not None
    assert wrong is not None
    assert certificate(model, [run], ("eventually_always", right.tree)) is not None
    assert certificate(model, [run], ("eventually_always", wrong.tree)) is None


def _listed(model: Model, run: LongRun) -> tuple[Model, list[LongRun]]:
    return model, [run]
