"""Each kind of what a run remembers has a certificate, and a wrong number in it is refused."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction

import pytest

from coherence.base.solver import recheck, unsat
from coherence.language.reading import read_text
from coherence.model.elaborate import elaborate
from coherence.model.model import Model
from coherence.simulate.execute.bounded_response import BoundedResponse
from coherence.simulate.execute.certificates.run_certificates import certificate
from coherence.simulate.execute.certificates.run_followed import Follower
from coherence.simulate.execute.exact import Choices, Instant
from coherence.simulate.execute.orbits import LongRun, long_run

HPA = """
coherence: 1
components: {{web: {{load: 100, usage: load / desired}}}}
loops:
  hpa:
    timescale: {{period: 15 s{times}}}
    target: {{signal: web.usage, setpoint: 0.5, tolerance: 0.1{sensor}}}
    actuation: {{signal: web.desired, law: proportional, bounds: [1, 1000], from: {start}{limits}}}
"""
TANK = """
coherence: 1
components: {tank: {state: "level' = inflow.rate - 1", from: 0}}
loops:
  pump:
    timescale: {period: 2 s, phase: 0 s}
    rules: [{when: level <= 4, to: 3}, {when: level >= 8, to: 0}]
    actuation: {signal: inflow.rate, bounds: [0, 3], from: 0}
"""
DRAIN = """
coherence: 1
loops:
  drain:
    timescale: {period: 30 s, phase: 0 s}
    rules: [{when: "batch.running > 5 for 60 s", by: -10}, {when: "batch.running > previous(batch.running)", by: 1}]
    actuation: {signal: batch.running, bounds: [0, 40], from: 40}
"""
ONCE = """
coherence: 1
loops:
  cut:
    timescale: {period: 10 s}
    trigger: web.desired > 3
    actuation: {signal: web.desired, law: step, by: -2, mode: once, bounds: [0, 9], from: 8}
"""


@dataclass(frozen=True)
class Kind:
    name: str
    text: str


def hpa(start: int = 120, **parts: str) -> str:
    return HPA.format(**{"times": "", "sensor": "", "limits": "", **parts}, start=start)


KINDS = [
    Kind("rate limit by number", hpa(limits=", rate: [{by: 5, per: 15 s}]")),
    Kind("rate limit by share", hpa(900, limits=", rate: [{percent: 10 %, per: 60 s}]")),
    Kind("mean", hpa(sensor=", sensor: [mean 1 min]")),
    Kind("scraped mean", hpa(sensor=", sensor: [scrape 20 s, mean 1 min]")),
    Kind("maximum", hpa(sensor=", sensor: [max 1 min]")),
    Kind("hold window", hpa(900, times=", hold_down: 1 min")),
    Kind("landing", hpa(times=", lands: 20 s")),
    Kind("cooldown", hpa(times=", cooldown: 20 s")),
    Kind("flow with stops", TANK),
    Kind("streak and earlier sample", DRAIN),
    Kind("once", ONCE),
]


def run_of(text: str) -> tuple[Model, LongRun]:
    model = elaborate(read_text(text))
    return model, long_run(model, Choices(), laps=160, most=2_000)


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
def test_both_solvers_confirm(kind: Kind) -> None:
    model, run = run_of(kind.text)
    script = certificate(model, [run])
    assert script is not None
    pytest.importorskip("cvc5")
    assert recheck(script).unsat


Change = Callable[[Instant], Instant | None]


def _acted(instant: Instant) -> Instant | None:
    """Another number written by the first action."""
    if not instant.actions:
        return None
    one = replace(instant.actions[0], after=instant.actions[0].after + Fraction(1, 7))
    return replace(instant, actions=(one, *instant.actions[1:]))


def _left(instant: Instant) -> Instant:
    """Another number left by the instant."""
    path = next(p for p, v in instant.after.items() if "." in p and not isinstance(v, bool) and p != "web.load")
    return replace(instant, after={**instant.after, path: instant.after[path] + Fraction(1, 7)})


def _sampled(instant: Instant) -> Instant:
    path = next(p for p, v in instant.sampled.items() if "." in p and not isinstance(v, bool) and p != "web.load")
    return replace(instant, sampled={**instant.sampled, path: instant.sampled[path] + Fraction(1, 7)})


@pytest.mark.parametrize("change", [_acted, _left, _sampled])
@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
def test_a_wrong_number_is_refused(kind: Kind, change: Change) -> None:
    model, run = run_of(kind.text)
    for number in range(0, len(run.instants), max(1, len(run.instants) // 2)):
        wrong = change(run.instants[number])
        if wrong is not None:
            instants = (*run.instants[:number], wrong, *run.instants[number + 1 :])
            assert certificate(model, [replace(run, instants=instants)]) is None


def test_an_instant_that_is_left_out_is_refused() -> None:
    for kind in (KINDS[0], KINDS[2], KINDS[8]):
        model, run = run_of(kind.text)
        assert certificate(model, [replace(run, instants=(*run.instants[:2], *run.instants[3:]))]) is None


def test_a_run_that_does_not_recur_is_refused() -> None:
    model, run = run_of(KINDS[1].text)
    assert run.orbit is not None
    early = replace(run.orbit, lap=run.instants[2:3])
    assert certificate(model, [replace(run, instants=run.instants[:3], orbit=early)]) is None


def test_a_rate_limit_that_is_not_kept_is_refused() -> None:
    """The same run under a tighter limit, a longer window, or a larger step."""
    _, run = run_of(KINDS[0].text)
    for limits in (", rate: [{by: 4, per: 15 s}]", ", rate: [{by: 5, per: 30 s}]", ", rate: [{by: 6, per: 15 s}]"):
        model = elaborate(read_text(hpa(limits=limits)))
        assert certificate(model, [run]) is None


def test_a_mean_over_another_window_is_refused() -> None:
    _, run = run_of(KINDS[2].text)
    assert certificate(elaborate(read_text(hpa(sensor=", sensor: [mean 75 s]"))), [run]) is None


def test_a_flow_of_another_rate_is_refused() -> None:
    _, run = run_of(TANK)
    assert certificate(elaborate(read_text(TANK.replace("rate - 1", "rate - 1.01"))), [run]) is None


def test_rest_is_claimed() -> None:
    model, run = run_of(KINDS[0].text)
    assert certificate(model, [run], rest=True) is not None
    model, run = run_of(TANK)
    assert certificate(model, [run]) is not None
    assert certificate(model, [run], rest=True) is None


def test_every_start_is_claimed() -> None:
    text = hpa().replace("bounds: [1, 1000], from: 120", "bounds: [1, 6]").replace("setpoint: 0.5", "setpoint: 30")
    model = elaborate(read_text(text))
    path = next(iter(model.commands))
    runs = [long_run(model, Choices({path: Fraction(n)}), laps=160, most=2_000) for n in range(1, 7)]
    assert certificate(model, runs, rest=True) is not None
    assert certificate(model, runs[:3] + runs[4:], rest=True) is None


def condition(text: str) -> tuple[str, object]:
    promise = read_text(f"coherence: 1\npromises: {{p: {text}}}\n").promises["p"]
    assert promise.condition is not None
    return promise.kind, promise.condition.tree


def test_a_streak_in_a_promise_recurs_with_the_run() -> None:
    """That 5 instants at rest show no streak of ten minutes proves nothing about later ones."""
    model, run = run_of(hpa())
    kind, tree = condition('"never web.desired >= 150 for 10 min"')
    assert certificate(model, [run], (kind, tree)) is None  # type: ignore[arg-type]
    longer = long_run(model, Choices(), laps=160, most=2_000, watched=[tree])  # type: ignore[list-item]
    assert certificate(model, [longer], (kind, tree)) is None  # type: ignore[arg-type]


def test_an_answer_in_time_and_one_too_late() -> None:
    model, run = run_of(DRAIN)
    _, first = condition("always batch.running > 30")
    _, then = condition("always batch.running <= 10")
    for within, confirmed in ((120, True), (119, False)):
        response = BoundedResponse(first, then, Fraction(within))  # type: ignore[arg-type]
        script = certificate(model, [run], response=response)
        assert (script is not None) is confirmed
    script = certificate(model, [run], response=BoundedResponse(first, then, Fraction(120)))  # type: ignore[arg-type]
    assert script is not None
    assert not unsat(script.replace("(<= (- 120.0 0.0) 120.0)", "(<= (- 120.0 0.0) 119.0)"), timeout_ms=2_000).unsat


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
def test_each_claim_stands_alone_and_is_refused_with_another_number(kind: Kind) -> None:
    """True claims are confirmed one by one, and a solver sees a changed number in every one of them."""
    model, run = run_of(kind.text)
    follower = Follower(model, run)
    for number in range(len(run.instants)):
        follower.follow(number)
    claims = list(dict.fromkeys(follower.claims))
    assert len(claims) > 3
    for claim in claims[:: max(1, len(claims) // 6)]:
        assert unsat(_alone(claim), timeout_ms=2_000).unsat
        if claim.startswith("(= ") and not claim.endswith("e)"):
            assert not unsat(_alone(_other(claim)), timeout_ms=2_000).unsat


def _alone(claim: str) -> str:
    return f"(set-logic QF_NIRA)\n(declare-const |clock!| Real)\n(assert (not {claim}))\n(check-sat)\n"


def _other(claim: str) -> str:
    """The claim with its last term, the value of the run, one larger."""
    depth, start = 0, len(claim) - 2
    while depth or claim[start] != " ":
        depth += {")": 1, "(": -1}.get(claim[start], 0)
        start -= 1
    return f"{claim[:start]} (+ 1.0{claim[start:-1]}))"
