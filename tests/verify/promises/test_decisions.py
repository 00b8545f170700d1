"""Promises over loops: what is proved, refuted and left open, from YAML; cross-checked by exact runs."""

from __future__ import annotations

import contextlib
import itertools
from fractions import Fraction
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bench._verify_proofs import chain
from coherence.base.clock import now
from coherence.base.solver import recheck
from coherence.language.expressions.evaluate import NotExactError
from coherence.language.reading import read_text
from coherence.model.elaborate import elaborate
from coherence.model.model import Model
from coherence.simulate.execute.exact import Choices, execute, replay
from coherence.simulate.execute.schedules import schedules
from coherence.simulate.execute.slices import sliced
from coherence.verify.promises.contracts import ByParts, by_parts, parts
from coherence.verify.promises.decisions import Open, Outcome, Proved, Refuted, condition_of, decide, violation
from coherence.verify.systems.lattices import enumerable_commands
from tests.draws import drawn

LAG = """
coherence: 1
components: {{plant: {{state: "x' = 0.9 * x + 0.1 * fan.speed", step: 1 s, from: 0 .. 100}}}}
loops:
  cool:
    timescale: {{period: 1 s, phase: 0 s{times}}}
    actuation: {{signal: fan.speed, law: set, to: "{law}", bounds: [-50, 50], from: 0{limits}}}
promises: {{p: "{promise}"}}
"""


def lag(promise: str, *, law: str = "20 - x / 2", times: str = "", limits: str = "") -> Outcome:
    """A first-order lag under one loop that sets what drives it."""
    return outcome(LAG.format(promise=promise, law=law, times=times, limits=limits))


def outcome(text: str, time_limit: float = 20) -> Outcome:
    """The outcome of the promise p."""
    model = elaborate(read_text(text))
    return decide(model, model.promises["p"], time_limit=time_limit)


@pytest.mark.parametrize(
    ("times", "limits"),
    [
        ("", ""),
        (", lands: 2 s", ""),
        pytest.param(", cooldown: 2 s", "", marks=pytest.mark.slow),
        pytest.param(", hold_down: 2 s", "", marks=pytest.mark.slow),
        pytest.param("", ", rate: [{by: 5, per: 1 s}]", marks=pytest.mark.slow),
    ],
)
def test_what_a_loop_waits_for_is_carried_by_the_proof(times: str, limits: str) -> None:
    shown = lag("always x <= 100", times=times, limits=limits)
    assert isinstance(shown, Proved)
    assert shown.certificate is not None
    refuted = lag("always x <= 99", times=times, limits=limits)
    assert isinstance(refuted, Refuted)


@pytest.mark.slow
def test_a_condition_that_must_last_and_a_value_of_the_past() -> None:
    text = LAG.replace("actuation", 'trigger: "{trigger}"\n    actuation')
    late = text.format(
        promise="always x <= 100", law="10", times="", limits="", trigger="(delayed(x, 2 s) > 50) for 3 s"
    )
    assert isinstance(outcome(late), Proved)


@pytest.mark.slow
def test_a_run_comes_to_rest_and_the_proof_says_when() -> None:
    shown = lag("eventually_always abs(x - 13.3333) <= 1")
    assert isinstance(shown, Proved)
    assert any(text.startswith("within ") for text in shown.assumptions)
    pytest.importorskip("cvc5")
    assert shown.certificate is not None
    assert recheck(shown.certificate).unsat


@pytest.mark.slow
def test_a_run_that_rests_elsewhere_is_a_conflict_that_replays() -> None:
    refuted = lag("eventually_always abs(x - 20) <= 1")
    assert isinstance(refuted, Refuted)
    model = elaborate(read_text(LAG.format(promise="always x >= 0", law="20 - x / 2", times="", limits="")))
    assert replay(sliced(model, ("plant.x",)), refuted.choices, list(refuted.instants))


FEED = """
coherence: 1
components:
  power: {{state: "x' = 0.8 * x + 0.2 * (10 + batch.load)", step: 1 s, from: 0 .. 60}}
loops:
  throttle:
    rank: 1
    timescale: {{period: 1 s, phase: 0 s}}
    trigger: {{enter: x >= 80, leave: x <= 60}}
    actuation: {{}}
  backfill:
    rank: 2
    timescale: {{period: 1 s, phase: 0 s}}
    rules: [{{when: throttle, by: -20}}, {{when: x < {h}, by: 5}}]
    actuation: {{signal: batch.load, bounds: [0, 200], from: 0}}
promises: {{p: {promise}}}
"""


@pytest.mark.parametrize(
    ("h", "touching"), [("54", False), *(pytest.param(h, True, marks=pytest.mark.slow) for h in ("56", "60"))]
)
def test_whole_steps_are_told_apart_and_a_missing_margin_is_said(h: str, touching: bool) -> None:
    shown = outcome(FEED.format(h=h, promise="never throttle"))
    assert isinstance(shown, Proved)
    assert shown.touching is touching


@pytest.mark.parametrize("h", ["60.4399", "85"])
def test_the_same_beyond_the_edge_is_a_conflict(h: str) -> None:
    assert isinstance(outcome(FEED.format(h=h, promise="never throttle")), Refuted)


@pytest.mark.slow
def test_overshoot_with_room_is_no_matter_of_margin() -> None:
    shown = outcome(FEED.format(h="85", promise="always x <= 95"))
    assert isinstance(shown, Proved)
    assert not shown.touching


def test_values_are_told_apart_where_steps_are_constant() -> None:
    model = elaborate(read_text(FEED.format(h="58", promise="never throttle")))
    assert enumerable_commands(model) == (("batch.load", (Fraction(0),)),)
    other = LAG.format(promise="always x <= 100", law="20 - x / 2", times="", limits="")
    assert enumerable_commands(elaborate(read_text(other))) == ()


def test_parts_stand_after_those_that_they_depend_on() -> None:
    found = parts(elaborate(read_text(chain(3))))
    assert [max(part) for part in found] == ["p0.x", "p1.x", "p2.x"]
    assert all(len(part) == 4 for part in found)


@pytest.mark.slow
def test_pairs_in_a_chain_are_proved_pair_by_pair() -> None:
    model = elaborate(read_text(chain(3)))
    condition = condition_of(model, model.promises["p"])
    found = by_parts(model, condition, wanted=True, deadline=now() + 20)
    assert isinstance(found, ByParts)
    assert [contract.path for contract in found.contracts] == ["p0.x", "p1.x"]
    for k in range(3):  # the contracts hold on runs
        for start in (0, 20):
            run = Choices({f"p{j}.x": Fraction(start if j <= k else 20 - start) for j in range(3)})
            for contract in found.contracts:
                low, high = contract.interval.low, contract.interval.high
                assert low is not None
                assert high is not None
                assert all(low <= i.after[contract.path] <= high for i in execute(model, run, instants=60))


@pytest.mark.slow
def test_a_limit_that_the_last_pair_exceeds_is_not_proved_by_parts() -> None:
    model = elaborate(read_text(chain(2, limit=50)))
    condition = condition_of(model, model.promises["p"])
    assert not isinstance(by_parts(model, condition, wanted=True, deadline=now() + 5), ByParts)


@pytest.mark.slow
def test_time_limits_are_kept() -> None:
    for limit in (0.0, 0.5):
        before = now()
        outcome(FEED.format(h="60.4398", promise="never throttle"), limit)
        assert now() - before < limit * 1.2 + 2  # the first call imports the solver


def random_pair(rng: Random) -> str:
    """A plant and two loops with a promise that may or may not hold."""
    a, gain = rng.choice(["0.5", "0.8", "0.9"]), rng.choice(["0.1", "0.2", "0.5"])
    times = rng.choice(["", ", lands: 1 s", ", cooldown: 2 s", ", hold_down: 1 s", ", hold_up: 2 s"])
    period, phase = rng.choice([1, 2]), rng.choice(["", ", phase: 0 s"])
    up, down = rng.choice([2, 3, 5]), rng.choice([4, 7])
    low, high = rng.choice([8, 12]), rng.choice([14, 18])
    kind = rng.choice(
        ["always x <= {}", "always x >= {}", "never hot", "eventually_always x <= {}", "eventually x >= {}"]
    )
    promise = kind.format(rng.randint(0, 40))
    return f"""
coherence: 1
components: {{plant: {{state: "x' = {a} * x + {gain} * job.act + 1", step: 1 s, from: {rng.choice(["4", "0 .. 10"])}}}}}
loops:
  hot:
    rank: 1
    timescale: {{period: 1 s{phase}}}
    trigger: {{enter: x >= {high}, leave: x <= {low}}}
    actuation: {{}}
  fill:
    rank: 2
    timescale: {{period: {period} s, phase: 0 s{times}}}
    rules: [{{when: hot, by: -{down}}}, {{when: x < {high - 1}, by: {up}}}]
    actuation: {{signal: job.act, bounds: [0, {rng.choice([10, 30])}], from: 0}}
promises: {{p: {promise}}}
"""


def kept_on_runs(model: Model, rng: Random, runs: int) -> bool:
    """Does every one of some exact runs, from random starts and phases, keep the promise (always, never)?"""
    promise = model.promises["p"]
    condition = condition_of(model, promise)
    patterns = list(itertools.islice(schedules(model), 20))
    span = model.states["plant.x"].initial
    assert span.low is not None
    assert span.high is not None
    for _ in range(runs):
        start = {"plant.x": span.low + Fraction(rng.randint(0, 20), 20) * (span.high - span.low)}
        choices = Choices(start, rng.choice(patterns).phases)
        if violation(model, choices, condition, wanted=promise.kind == "always", deadline=now() + 2):
            return False
    return True


def cross_check(rng: Random, runs: int) -> str:
    """The verdict on a random pair, after looking whether runs contradict it."""
    text = random_pair(rng)
    model = elaborate(read_text(text))
    found = decide(model, model.promises["p"], time_limit=4)
    if isinstance(found, Proved) and model.promises["p"].kind in ("always", "never"):
        assert kept_on_runs(model, rng, runs), text
    if isinstance(found, Refuted):
        names = [n for n in ("plant.x", "hot", "fill") if n in text or n == "plant.x"]
        assert replay(sliced(model, names), found.choices, list(found.instants[:200])), text
    if isinstance(found, Open):
        assert found.reason
    return type(found).__name__


@pytest.mark.slow
@settings(max_examples=4, deadline=None)
@given(st.randoms(use_true_random=False))
def test_what_is_proved_of_a_random_pair_holds_on_exact_runs(rng: Random) -> None:
    with contextlib.suppress(NotExactError):
        cross_check(rng, 6)


@pytest.mark.slow
def test_what_is_proved_of_many_random_pairs_holds_on_hundreds_of_runs() -> None:
    for seed in drawn(range(200), parts=4):
        with contextlib.suppress(NotExactError):
            cross_check(Random(seed), 20)  # noqa: S311


@pytest.mark.parametrize("times", [", lands: 0 s .. 3 s", ", cooldown: 1 s .. 5 s", ", hold_down: 0 s .. 3 s"])
def test_a_time_that_is_a_range_is_not_proved_at_one_end(times: str) -> None:
    found = lag("always x <= 100", times=times)
    assert isinstance(found, Open)
    assert times.split(":", maxsplit=1)[0].strip(", ") in found.reason


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("step: 1 s", "step: 1 s .. 2 s"),
        pytest.param("phase: 0 s", "phase: 0 s .. 0.5 s", marks=pytest.mark.slow),
        pytest.param("[-50, 50]", "[-50 .. -20, 50]", marks=pytest.mark.slow),
        ("from: 0{limits}", "from: 0, rate: [{{by: 1 .. 5, per: 1 s}}]{limits}"),
    ],
)
def test_no_other_fact_of_a_run_is_proved_at_one_end(old: str, new: str) -> None:
    text = LAG.replace(old, new).format(promise="always x <= 100", law="20 - x / 2", times="", limits="")
    assert text != LAG.format(promise="always x <= 100", law="20 - x / 2", times="", limits="")
    found = outcome(text)
    assert isinstance(found, Open)
    assert "needs one value of" in found.reason


SCRAPED = """
coherence: 1
components: {{web: {{load: 100, usage: load / desired}}}}
loops:
  hpa:
    timescale: {{period: 30 s, lands: 28 s{phase}}}
    target: {{signal: web.usage, setpoint: 0.5, tolerance: 10 %, sensor: [scrape 30 s]}}
    actuation: {{signal: web.desired, law: proportional, bounds: [1, 100000], from: 120}}
promises: {{p: eventually_always web.desired == 200}}
"""


def test_the_phase_of_a_loop_alone_matters_against_its_sensor() -> None:
    assert isinstance(outcome(SCRAPED.format(phase=", phase: 0 s")), Proved)
    assert isinstance(outcome(SCRAPED.format(phase=", phase: 5 s")), Refuted)
    assert isinstance(outcome(SCRAPED.format(phase="")), Refuted)


@pytest.mark.slow
def test_a_promise_about_a_rounded_value_is_caught_where_it_is_looked_at() -> None:
    assert isinstance(lag("always ceil(x) <= 101"), Proved)
    assert isinstance(lag("always ceil(x) <= 99"), Refuted)


def test_numbers_that_are_not_whole_are_not_told_apart_as_whole_ones() -> None:
    text = """
coherence: 1
components: {{plant: {{state: "x' = 0.5 * x + job.act", step: 1 s, from: 1 .. 30}}}}
loops:
  a:
    timescale: {{period: 1 s, phase: 0 s}}
    target: {{signal: "1 if x < 20 else 3", setpoint: 2}}
    actuation: {{signal: job.act, law: proportional, bounds: [{low}, 8], from: 2{rate}}}
promises: {{p: always x <= 40}}
"""
    assert enumerable_commands(elaborate(read_text(text.format(low=1, rate=""))))
    assert not enumerable_commands(elaborate(read_text(text.format(low=1, rate=", rate: [{by: 0.5, per: 1 s}]"))))


STREAK = """
coherence: 1
components: {{tank: {{state: "x' = x + 1 if x < {high} else 0", step: 1 s, from: {start}}}}}
loops:
  l:
    timescale: {{period: 2 s, phase: 0 s}}
    trigger: x >= 4 for {seconds} s
    actuation: {{signal: out.u, law: step, by: 1, bounds: [0, 3], from: 0}}
promises: {{p: always out.u <= 0}}
"""


@pytest.mark.parametrize("high", [7, *(pytest.param(high, marks=pytest.mark.slow) for high in (9, 11))])
@pytest.mark.parametrize("seconds", [*range(3), *(pytest.param(n, marks=pytest.mark.slow) for n in range(3, 8))])
def test_run_and_proof_count_for_from_the_first_true_sample_in_a_row(high: int, seconds: int) -> None:
    """x is even at samples and at least 4 from 4 s to high - 1 s: the first true sample is then high - 5 s ago."""
    acts = seconds <= high - 5
    for start in ("0", "0 .. 0.5"):  # one start, which a run decides; a range of them, which a proof decides
        assert isinstance(outcome(STREAK.format(high=high, seconds=seconds, start=start)), Refuted if acts else Proved)


@pytest.mark.slow
def test_a_bad_run_in_floats_is_repeated_exactly_from_rounded_numbers() -> None:
    """No end of the range breaks it, whatever the order: only a start between them does."""
    text = """
coherence: 1
components: {tank: {state: "x' = x", step: 1 s, from: 0 .. 10}}
loops:
  l:
    timescale: {period: 1 s, phase: 0 s}
    trigger: x > 4 and x < 6
    actuation: {signal: out.u, by: 1, bounds: [0, 3], from: 0}
promises: {p: always out.u <= 0}
"""
    broken = outcome(text)
    assert isinstance(broken, Refuted)
    assert 4 < broken.choices.values["tank.x"] < 6
    assert not broken.certainty.certain


FREE = """
coherence: 1
components:
  power: {{state: "p' = 0.8 * p + 0.2 * (10 + batch.load)", step: 1 s, from: 0 .. 60}}
loops:
  throttle: {{rank: 1, timescale: {{period: 1 s}}, trigger: {{enter: p >= 80, leave: p <= 60}}, actuation: {{}}}}
  backfill:
    rank: 2
    timescale: {{period: 1 s}}
    rules: [{{when: throttle, by: -20}}, {{when: p < 85, by: 5}}]
    actuation: {{signal: batch.load, bounds: [0, 200], from: 0}}
promises: {{p: always p <= {limit}}}
"""


@pytest.mark.slow
def test_every_phase_is_run_before_a_proof_is_searched() -> None:
    broken = outcome(FREE.format(limit=83))
    assert isinstance(broken, Refuted)
    assert any(broken.choices.phases.values())  # at phase 0 the highest is 81.7
    assert isinstance(outcome(FREE.format(limit=86)), Proved)


def test_values_that_vary_change_in_the_run_that_breaks_a_promise() -> None:
    text = """
coherence: 1
components:
  src: {w: {varies: 0 .. 10}}
  tank: {state: "x' = src.w", step: 1 s, from: 0}
loops:
  l:
    timescale: {period: 1 s, phase: 0 s}
    actuation: {signal: out.u, law: set, to: "x - delayed(x, 1 s)", bounds: [-100, 100], from: 0}
promises: {p: always out.u >= 0}
"""
    broken = outcome(text)
    assert isinstance(broken, Refuted)
    assert {value for _, _, value in broken.choices.schedule} == {0, 10}
