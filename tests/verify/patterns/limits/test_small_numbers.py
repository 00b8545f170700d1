"""Rounding, rollouts, budgets, ejection and sensors: verdicts against plain simulations, for every small number."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coherence.base.solver import unsat
from coherence.findings.finding import Finding, Verdict
from coherence.findings.question_input import Subject
from coherence.language.reading import read_text
from coherence.verify.patterns.limits import (
    capacity_claims,
    ejection_panic,
    limit_against_demand,
    memory_admission,
    rollout_feasibility,
)
from coherence.verify.patterns.sensors import sensor_delay, sensor_saturation, sensor_window
from coherence.verify.patterns.sensors.sensor_delay import decisions
from tests.draws import few

Ask = Callable[[Subject], Iterable[Finding]]
PERCENTS = st.integers(min_value=0, max_value=100)
SMALL = st.integers(min_value=1, max_value=9)
WAYS = st.sampled_from(("up", "down"))


def answers(ask: Ask, body: str) -> list[Finding]:
    text = "coherence: 1\n" + body
    return list(ask(Subject(read_text(text), {"<design>": text})))


def the_answer(ask: Ask, body: str) -> Finding:
    found = answers(ask, body)
    assert len(found) == 1, [finding.message for finding in found]
    finding = found[0]
    if finding.verdict is Verdict.PROVED:
        assert finding.evidence.certificate is not None
        assert unsat(finding.evidence.certificate, timeout_ms=5000).unsat
    if finding.verdict is Verdict.CONFLICT:
        assert len(finding.places) >= 2
        assert finding.evidence.witness
        assert finding.evidence.numbers
    return finding


def rounded(percent: int, of: int, way: str) -> int:
    exact = Fraction(percent, 100) * of
    return math.ceil(exact) if way == "up" else math.floor(exact)


# --- rollouts


def rolls_out(count: int, surge: int, away: int, capacity: int) -> bool:
    """Replace `count` copies one by one, as the Deployment controller does; one accelerator each."""
    if surge == 0 and away == 0:
        away = 1
    old, new = count, 0
    for _ in range(4 * count + 4):
        if old + new < min(count + surge, capacity) and new < count:
            new += 1
        elif old and old + new - 1 >= count - away:
            old -= 1
        if old == 0 and new == count:
            return True
    return False


@settings(max_examples=80, deadline=None)
@given(SMALL, PERCENTS, WAYS, PERCENTS, WAYS, st.integers(min_value=0, max_value=2))
def test_a_rollout_goes_on_exactly_when_the_controller_finishes_it(
    count: int, surge: int, surge_way: str, away: int, away_way: str, spare: int
) -> None:
    body = f"""
components: {{m: {{copies: {count}, needs: {{gpu: 1}}}}, pool: {{gpu: {count + spare}}}}}
limits:
  surge: {{counts: m.extra, at_most: {surge} % of m.copies round {surge_way}}}
  gone:  {{counts: m.down, at_most: {away} % of m.copies round {away_way}}}
"""
    finding = the_answer(rollout_feasibility.ask, body)
    accepted = surge > 0 or away > 0  # by the API server
    extra, missing = rounded(surge, count, surge_way), rounded(away, count, away_way)
    finishes = accepted and rolls_out(count, extra, missing, count + spare)
    assert (finding.verdict is Verdict.PROVED) is finishes
    assert (finding.verdict is Verdict.CONFLICT) is not finishes


@pytest.mark.parametrize(
    ("surge", "away", "assumed"),
    [
        (0, "1 %", "both caps round to 0"),
        (1, 0, "the room left is usable"),
        (2, 0, "the room left is usable"),
        (0, 1, None),
        (1, 1, None),
        (2, 1, None),
    ],
)
def test_a_rollout_is_proved_under_what_its_caps_need(surge: int, away: int | str, assumed: str | None) -> None:
    """Where a copy may be missing nothing is assumed; else one more needs room, or Kubernetes' own rule."""
    finding = the_answer(rollout_feasibility.ask, f"""
components: {{m: {{copies: 4, needs: {{gpu: 1}}}}, pool: {{gpu: 6}}}}
limits:
  surge: {{counts: m.extra, at_most: {surge}}}
  gone:  {{counts: m.down, at_most: {away}, rounding: down}}
""")  # fmt: skip
    assert finding.verdict is Verdict.PROVED
    assumptions = finding.assumptions
    assert len(assumptions) == (assumed is not None)
    assert assumed is None or assumed in assumptions[0]


# --- disruption budgets


@settings(max_examples=few(80), deadline=None)
@given(SMALL, st.integers(min_value=0, max_value=5), PERCENTS, st.booleans())
def test_a_budget_blocks_exactly_where_no_copy_may_go(low: int, more: int, percent: int, floor: bool) -> None:
    key, word = ("at_least", "available") if floor else ("at_most", "unavailable")
    body = f"""
components: {{web: {{copies: {low} .. {low + more}}}}}
limits: {{pdb: {{uses: pod_disruption_budget, counts: web.{word}, {key}: {percent} % of web.copies}}}}
"""
    finding = the_answer(limit_against_demand.ask, body)
    free = [n - rounded(percent, n, "up") if floor else rounded(percent, n, "up") for n in range(low, low + more + 1)]
    if all(left >= 1 for left in free):
        assert finding.verdict is Verdict.PROVED
    else:
        assert finding.verdict is Verdict.CONFLICT
        assert (finding.certainty == "certain") is all(left < 1 for left in free)


def test_no_copies_leave_nothing_to_evict() -> None:
    body = "components: {web: {copies: 0}}\nlimits: {pdb: {counts: web.available, at_least: 1}}\n"
    assert answers(limit_against_demand.ask, body) == []


# --- ejection


@pytest.mark.slow
@settings(max_examples=80, deadline=None)
@given(SMALL, PERCENTS, WAYS, st.integers(min_value=0, max_value=99), st.integers(min_value=1, max_value=9))
def test_ejection_is_undone_exactly_when_panic_begins(hosts: int, share: int, way: str, panic: int, bad: int) -> None:
    body = f"""
components: {{hosts: {{copies: {hosts}, failing: {bad}}}}}
limits: {{ejection: {{counts: hosts.ejected, at_most: {share} % of hosts.copies round {way}}}}}
loops:
  panic: {{trigger: hosts.healthy / hosts.copies < {panic} %, actuation: {{signal: hosts.ejected, law: ignore}}}}
"""
    finding = the_answer(ejection_panic.ask, body)
    out = min(rounded(share, hosts, way), bad, hosts)
    undone = any(Fraction(hosts - k, hosts) < Fraction(panic, 100) for k in range(1, out + 1))
    assert (finding.verdict is Verdict.CONFLICT) is (undone or out == hosts)


@pytest.mark.parametrize(("bad", "verdict"), [(500, "proved"), (501, "conflict")])
def test_many_hosts_are_decided_by_halving(bad: int, verdict: str) -> None:
    body = f"""
components: {{hosts: {{copies: 1000, failing: {bad}}}}}
limits: {{ejection: {{counts: hosts.ejected, at_most: 60 % of hosts.copies round up}}}}
loops:
  panic: {{trigger: hosts.healthy / hosts.copies < 50 %, actuation: {{signal: hosts.ejected, law: ignore}}}}
"""
    assert the_answer(ejection_panic.ask, body).verdict == verdict


# --- limits and claims


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 12), st.integers(0, 12), st.integers(0, 60))
def test_steps_fit_exactly_when_every_number_of_turns_does(low: int, more: int, limit: int) -> None:
    body = f"""
components: {{agent: {{turns: {low} .. {low + more}}}}}
limits: {{steps: {{counts: 2 * agent.turns + 1, at_most: {limit}, per: run, when_full: fail and lose}}}}
"""
    finding = the_answer(limit_against_demand.ask, body)
    fits = [2 * turns + 1 <= limit for turns in range(low, low + more + 1)]
    assert finding.verdict is (Verdict.PROVED if all(fits) else Verdict.CONFLICT)
    assert finding.certainty == ("" if all(fits) else "possible" if any(fits) else "certain")


@settings(max_examples=40, deadline=None)
@given(SMALL, SMALL, st.integers(1, 20))
def test_claims_fit_exactly_when_their_bounds_do(one: int, other: int, count: int) -> None:
    body = f"""
components: {{pool: {{count: {count}}}}}
claims: {{pool: a.desired + 2 * b.desired}}
loops:
  a: {{trigger: x.y > 1, actuation: {{signal: a.desired, by: 1, bounds: [0, {one}]}}}}
  b: {{trigger: x.y > 1, actuation: {{signal: b.desired, by: 1, bounds: [0, {other}]}}}}
"""
    finding = the_answer(capacity_claims.ask, body)
    assert finding.verdict is (Verdict.PROVED if one + 2 * other <= count else Verdict.CONFLICT)
    assert finding.of == ("pool", "a", "b")


@settings(max_examples=60, deadline=None)
@given(SMALL, SMALL, st.integers(0, 20), st.tuples(st.integers(1, 3), st.integers(1, 3), st.integers(1, 3)), SMALL)
def test_a_limit_on_a_sum_holds_claims_where_no_state_within_it_passes_them(
    one: int, other: int, most: int, times: tuple[int, int, int], count: int
) -> None:
    """A claim of a multiple of what is counted is decided both ways; of another sum what is proved holds."""
    first, second, both = times
    body = f"""
components: {{pool: {{count: {count}}}, a: {{batch: 0 .. {one}}}, b: {{batch: 0 .. {other}}}}}
limits: {{both: {{counts: a.batch + b.batch, at_most: {most}, when_full: wait}}}}
claims: {{pool: {first} * a.batch + {second} * b.batch + {both} * (a.batch + b.batch)}}
"""
    finding = the_answer(capacity_claims.ask, body)
    states = [(a, b) for a in range(one + 1) for b in range(other + 1) if a + b <= most]
    fits = all((first + both) * a + (second + both) * b <= count for a, b in states)
    if first == second or finding.verdict is Verdict.PROVED:
        assert fits == (finding.verdict is Verdict.PROVED)


# --- sensors


def sensed(sensor: str, *, period: str = "15 s", hold: str = "5 min", setpoint: str = "70 %") -> str:
    return f"""
loops:
  hpa:
    target: {{signal: web.cpu, setpoint: {setpoint}, sensor: [{sensor}]}}
    timescale: {{period: {period}, hold_down: {hold}}}
    actuation: {{signal: web.desired, law: proportional, bounds: [1, 9]}}
"""


@settings(max_examples=few(60), deadline=None)
@given(st.integers(1, 40), st.integers(1, 100), st.integers(1, 40))
def test_a_rate_has_two_samples_exactly_when_every_phase_does(scrape: int, window: int, period: int) -> None:
    """Counting scrapes in (t - W, t] at every tenth of a second; certain = at some decision of every phase."""
    finding = the_answer(sensor_window.ask, sensed(f"scrape {scrape} s, rate {window} s", period=f"{period} s"))
    ages = [Fraction(tenth, 10) for tenth in range(10 * scrape)]  # of the newest sample when the loop reads
    starved = [age for age in ages if math.ceil((window - age) / Fraction(scrape)) < 2]
    assert (finding.verdict is Verdict.CONFLICT) is bool(starved)
    if finding.verdict is Verdict.CONFLICT:
        phases = range(10 * math.gcd(scrape, period))  # the decisions of one phase meet every such residue
        met = [any((10 * age) % len(phases) == phase for age in starved) for phase in phases]
        assert finding.certainty == "possible" or all(met)


@settings(max_examples=60, deadline=None)
@given(st.integers(1, 60), st.integers(1, 120), st.integers(1, 10))
def test_decisions_that_see_one_sample_are_counted_exactly(visible: int, hold: int, period: int) -> None:
    seen, held = decisions(Fraction(visible), Fraction(period), Fraction(hold))
    phases = [Fraction(n, 4) for n in range(4 * period)]  # of the decisions after the sample was taken
    most = max(sum(phase + k * period < visible for k in range(visible + 1)) for phase in phases)
    assert seen == most
    assert held == sum(1 for k in range(hold + 1) if k * period <= hold)


@pytest.mark.parametrize(
    ("sensor", "mean", "longest"),
    [
        ("scrape 60 s, irate 4 min, relist 60 s", Fraction(195, 2), 195),
        ("scrape 60 s, mean 4 min, relist 60 s", Fraction(375, 2), 375),
        ("scrape 15 s, relist 1 min", 45, 90),
        ("scrape 30 s, last 5 min", Fraction(45, 2), 45),
    ],
)
def test_delays_of_chains(sensor: str, mean: Fraction | int, longest: int) -> None:
    numbers = the_answer(sensor_delay.ask, sensed(sensor)).evidence.numbers
    assert numbers["mean delay"][0] == mean
    assert numbers["longest delay"][0] == longest


@settings(max_examples=30, deadline=None)
@given(st.integers(1, 60), st.integers(1, 60), st.integers(1, 400), st.sampled_from((2, 3, 60)))
def test_scaling_all_durations_keeps_verdicts(scrape: int, window: int, hold: int, factor: int) -> None:
    def body(by: int) -> str:
        return sensed(f"scrape {scrape * by} s, rate {window * by} s", period=f"{15 * by} s", hold=f"{hold * by} s")

    for ask in (sensor_window.ask, sensor_delay.ask):
        if ask is sensor_delay.ask and not answers(ask, body(1)):  # too few samples for a value: no age to speak of
            assert window < 2 * scrape
            assert not answers(ask, body(factor))
            continue
        found = [the_answer(ask, body(by)) for by in (1, factor)]
        assert found[0].verdict is found[1].verdict
        assert found[0].certainty == found[1].certainty
        assert found[0].severity is found[1].severity


@settings(max_examples=60, deadline=None)
@given(st.integers(1, 40), st.integers(1, 40), st.sampled_from((0, 10, 20)))
def test_a_loop_acts_exactly_when_its_ratio_can_pass_the_tolerance(setpoint: int, most: int, tolerance: int) -> None:
    body = f"""
limits: {{slots: {{counts: model.ongoing, at_most: {most}, when_full: wait}}}}
loops:
  serve:
    target: {{signal: model.ongoing, setpoint: {setpoint}, tolerance: {tolerance} %}}
    actuation: {{signal: model.desired, law: proportional, bounds: [1, 9]}}
"""
    acts = Fraction(most, setpoint) - 1 > Fraction(tolerance, 100)
    finding = the_answer(sensor_saturation.ask, body)
    assert finding.verdict is (Verdict.PROVED if acts else Verdict.CONFLICT)


def test_a_sensor_that_sees_the_queue_or_a_pinned_loop_is_not_asked() -> None:
    body = """
limits: {{slots: {{counts: m.ongoing, at_most: 1, when_full: wait}}}}
loops:
  a: {{target: {{signal: m.ongoing, setpoint: 1{}}}, actuation: {{signal: m.n, law: proportional, bounds: [1, {}]}}}}
"""
    assert answers(sensor_saturation.ask, body.format(", sensor: [scrape 1 s, sees queued requests]", 9)) == []
    assert answers(sensor_saturation.ask, body.format("", 1)) == []


# --- memory


@settings(max_examples=60, deadline=None)
@given(st.integers(1, 20), st.integers(1, 200), st.integers(1, 40), st.sampled_from((8, 16)))
def test_admission_of_equal_requests(cap: int, tokens: int, blocks: int, block: int) -> None:
    body = f"""
workload: {{requests: {{rate: 4 req/s, tokens: {tokens} token}}}}
limits:
  seqs:   {{counts: engine.running, at_most: {cap}, when_full: wait}}
  blocks: {{counts: sum of request.tokens / {block} round up, at_most: {blocks}, when_full: evict and redo}}
"""
    each = -(-tokens // block)
    finding = the_answer(memory_admission.ask, body)
    expected = Verdict.CONFLICT if each > blocks else Verdict.PROVED if cap * each <= blocks else Verdict.UNDECIDED
    assert finding.verdict is expected
