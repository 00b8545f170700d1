"""Proofs that what a question looks for is not there, beside plain runs and counts that know nothing of the engine."""

from __future__ import annotations

import itertools
import random
from fractions import Fraction

import pytest

from coherence.base.solver import unsat
from coherence.checking.design_check import analyse
from coherence.checking.weighing import absences_weighed, ask_weighed
from coherence.findings.finding import Finding, Verdict
from coherence.findings.question_input import Subject
from coherence.findings.registry import QuestionModule, question_modules
from coherence.language.reading import read_text
from coherence.simulate.execute.exact import Choices, Execution

HEAD = "coherence: 1\n"


def answered(text: str, code: str) -> tuple[set[Verdict], list[Finding]]:
    """Returns what the question says of a design, and its proofs that nothing is there, each checked by a solver."""
    subject = Subject(read_text(text, "d"), {"d": text})
    modules: list[QuestionModule] = [m for m in question_modules() if any(q.code == code for q in m.questions)]
    told = {finding.verdict for finding in ask_weighed(subject, question_modules()) if finding.code == code}
    proofs = [f for f in absences_weighed(subject, modules) if f.verdict is Verdict.PROVED]
    assert all(unsat(proof.evidence.certificate or "", timeout_ms=5_000).unsat for proof in proofs)
    return told, proofs


def drawn(seed: int, *choices: list[int]) -> list[int]:
    draw = random.Random(seed)  # noqa: S311  (no secret)
    return [draw.choice(choice) for choice in choices]


@pytest.mark.parametrize("seed", range(24))
def test_one_try_that_ends_before_the_limit_around_it_is_proved_and_no_other(seed: int) -> None:
    outer, each, tries = drawn(seed, [*range(1, 9)], [*range(1, 9)], [1, 1, 2])
    text = (
        f"{HEAD}calls:\n  - {{from: a, to: b, per_try: {outer} s, tries: 2, on_timeout: cancel}}\n"
        f"  - {{from: b, to: c, per_try: {each} s, tries: {tries}, retry_when: [timeout]}}\n"
    )
    proofs = answered(text, "COH201")[1]
    lost = any(second >= outer for second in range(each + 1))  # a second of the one try, its end too
    assert bool(proofs) == (tries == 1 and not lost)
    assert all(proof.of == ("a -> b", "b -> c") for proof in proofs)


OPERATORS = {"<": int.__lt__, "<=": int.__le__, ">": int.__gt__, ">=": int.__ge__}


@pytest.mark.parametrize("seed", range(40))
def test_conditions_that_may_hold_are_proved_and_dead_ones_never(seed: int) -> None:
    draw = random.Random(seed)  # noqa: S311  (no secret)
    low, high = sorted(draw.sample(range(9), 2))
    rules = [(draw.choice(list(OPERATORS)), draw.randint(-1, 9)) for _ in range(draw.randint(1, 3))]
    lines = "".join(f"\n      - {{when: q.n {op} {than}, by: 1}}" for op, than in rules)
    text = (
        f"{HEAD}loops:\n  l:\n    timescale: {{period: 1 s}}\n    rules:{lines}\n"
        "    actuation: {signal: w.copies, law: step, bounds: [1, 9], from: 1}\n"
        f"  m: {{timescale: {{period: 1 s}}, actuation: {{signal: q.n, law: set, to: {low}}}}}\n"
        f"  o: {{timescale: {{period: 1 s}}, actuation: {{signal: q.n, law: set, to: {high}}}}}\n"
    )
    winners = {
        next((k for k, (op, than) in enumerate(rules) if OPERATORS[op](n, than)), None) for n in range(low, high + 1)
    }
    told, proofs = answered(text, "COH213")
    reached = set(range(len(rules))) <= winners
    proved = any(proof.of == ("l",) for proof in proofs)
    assert not (proved and Verdict.CONFLICT in told)
    assert not (reached and Verdict.CONFLICT in told)
    assert proved or not reached


def test_a_value_outside_the_bounds_is_not_proved_to_be_written() -> None:
    text = f"{HEAD}loops: {{z: {{trigger: q.n == 0, actuation: {{signal: w.n, law: set, to: 0, bounds: [%s, 3]}}}}}}\n"
    told, proofs = answered(text % 1, "COH213")
    assert Verdict.CONFLICT in told
    assert not proofs
    told, proofs = answered(text % 0, "COH213")
    assert Verdict.CONFLICT not in told
    assert [proof.of for proof in proofs] == [("z",)]


def test_how_long_a_condition_lasts_is_not_proved_beside_bursts() -> None:
    loop = "l: {trigger: w.rate > 100 req/s for %s, actuation: {signal: p.n, by: 1, bounds: [0, 9]}}"
    workload = "workload: {w: {rate: 10 req/s, burst: {rate: 200 req/s, lasts: 30 s}}}\n"
    for window in ("60 s", "10 s"):
        assert not answered(f"{HEAD}{workload}loops: {{{loop % window}}}\n", "COH213")[1]


@pytest.mark.parametrize("seed", range(40))
def test_no_removal_that_is_proved_to_end_empties_a_thing(seed: int) -> None:
    copies, most, rate, limit = drawn(seed, [2, 3, 4, 5], [1, 2, 3, 4], [100, 200, 300], [30, 60, 100, 150, 250])
    text = (
        f"{HEAD}workload: {{requests: {{rate: {rate} req/s}}}}\ncomponents: {{pods: {{copies: {copies}}}}}\n"
        f"loops:\n  r: {{trigger: requests.rate / (pods.copies - pods.removed) > {limit} req/s,"
        f" actuation: {{signal: pods.removed, law: step, by: 1, bounds: [0, {most}]}}}}\n"
    )
    told, proofs = answered(text, "COH240")
    most = min(most, copies)
    overloaded = [Fraction(rate, copies - out) > limit for out in range(min(most, copies - 1) + 1)]
    emptied = any(all(overloaded[out:most]) for out in (0, 1) if out < most)
    assert (Verdict.CONFLICT in told) == emptied
    assert not (proofs and emptied)


@pytest.mark.parametrize("bounds", ["", ", bounds: [0, 2000]"])
def test_a_bound_is_what_is_proved_to_end_a_rise(bounds: str) -> None:
    text = (
        f"{HEAD}loops: {{budget: {{timescale: {{period: 1 h}}, trigger: always,"
        f" actuation: {{signal: account.spend, law: step, by: 20{bounds}, from: 0}}}}}}\n"
    )
    told, proofs = answered(text, "COH233")
    run = Execution(Subject(read_text(text, "d"), {"d": text}).model, Choices())
    values = [action.after for _ in range(200) for action in run.advance().actions]
    assert bool(proofs) == bool(bounds) == (max(values) <= 2000)
    assert (Verdict.CONFLICT in told) == (not bounds)


@pytest.mark.parametrize(("inside", "around"), list(itertools.product(["none", "slices"], ["gpu", "other"])))
def test_a_loop_on_the_side_of_what_it_reads_is_proved_to_read_it(inside: str, around: str) -> None:
    text = (
        f"{HEAD}infrastructure:\n"
        f"  boundaries: {{slices: {{kind: virtualization, around: [{around}], hides: gpu.power}}}}\n"
        "components: {gpu: {power: 0 .. 400, clock: 1 .. 10}, other: {power: 3}}\n"
        f"loops:\n  cap: {{inside: {inside}, timescale: {{period: 1 s}}, trigger: gpu.power > 250,"
        " actuation: {signal: gpu.clock, law: step, by: -1, bounds: [1, 10]}}\n"
    )
    told, proofs = answered(text, "COH507")
    assert not (proofs and Verdict.CONFLICT in told)
    assert bool(proofs) == (inside == "slices" and around == "gpu")


@pytest.mark.parametrize("by", [-5, 5])
def test_a_step_against_what_is_read_is_proved_and_a_step_with_it_is_not(by: int) -> None:
    text = (
        f"{HEAD}workload: {{web: {{rate: 60 req/s}}}}\n"
        "components: {pool: {queue: web.attempts / (pool.replicas * 1 req/s), goal: 1}}\n"
        "loops:\n  scaler:\n    timescale: {period: 30 s}\n    trigger: pool.queue > 1\n"
        "    target: {signal: pool.queue, setpoint: pool.goal}\n"
        f"    actuation: {{signal: pool.replicas, law: step, by: {by}, bounds: [1, 1000], from: 59}}\n"
    )
    told, proofs = answered(text, "COH307")
    away = Fraction(60, 59 + by) > Fraction(60, 59)
    assert (Verdict.CONFLICT in told) == away
    assert bool(proofs) == (not away)


@pytest.mark.slow
def test_loops_that_settle_do_so_beside_a_loop_that_writes_nothing() -> None:
    text = (
        f"{HEAD}workload: {{web: {{rate: 300 req/s}}}}\n"
        "components: {app: {each: 50 req/s, cpu: web.rate / (app.replicas * app.each)}}\n"
        "loops:\n  hpa: {uses: kubernetes_hpa, target: {signal: app.cpu, setpoint: 60 %%},"
        " actuation: {signal: app.replicas, bounds: [2, 20], from: 3}}\n"
        "  argocd: {timescale: {period: 3 min}, trigger: app.replicas != 3,"
        " actuation: {signal: app.replicas, law: set, to: %s, bounds: [0, 100]}}\n"
    )
    assert [proof.of for proof in answered(text % "unset", "COH301")[1]] == [("hpa", "argocd")]
    told, proofs = answered(text % "3", "COH301")
    assert Verdict.CONFLICT in told
    assert not proofs


@pytest.mark.parametrize("number", [1, 2, 3])
def test_an_autoscaler_is_the_only_one_of_its_target_or_is_in_conflict(number: int) -> None:
    loops = "".join(
        f"  s{k}: {{uses: kubernetes_hpa, target: {{signal: w.cpu, setpoint: 70 %}}, "
        f"actuation: {{signal: w.replicas, bounds: [2, 10]}}}}\n"
        for k in range(number)
    )
    text = f"{HEAD}loops:\n{loops}"
    told, proofs = answered(text, "COH205")
    assert bool(proofs) == (number == 1)
    assert (Verdict.CONFLICT in told) == (number > 1)
    answers = analyse(read_text(text, "d"), {"d": text}, lambda s: read_text(s["d"], "d"), select=["COH205"])
    repairs = [r for f in answers.findings if f.verdict is Verdict.CONFLICT for r in f.repairs]
    assert sorted(r.concedes for r in repairs if r.proved) == (
        [("s0 is taken away",), ("s1 is taken away",)] if number == 2 else []
    )  # of three, two remain
