"""General conflicts of loops that share a signal: against conditions computed by hand, certificates, and replays."""

from __future__ import annotations

import re
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coherence.base import solver
from coherence.base.errors import MissingExtraError
from coherence.checking.design_check import analyse
from coherence.findings.finding import Finding, Verdict
from coherence.language.expressions import parse
from coherence.language.reading import read_text
from coherence.model.elaborate import elaborate
from coherence.model.model import Interval
from coherence.simulate.execute.exact import Choices
from coherence.simulate.execute.orbits import long_run
from coherence.verify.facts import satisfiability
from coherence.verify.facts.plain_numbers import rounder
from coherence.verify.facts.ranges import point
from coherence.verify.facts.satisfiability import SatQuery, SatState
from tests.paths import ROOT

TESTS = ROOT / "tests"
MINE = ("contradictory_actuation", "unsatisfiable_targets", "livelock", "unbounded_actuation", "dead_policy")
CODES = ("COH213", "COH230", "COH231", "COH232", "COH233", "COH234")
SLOW = settings(max_examples=25, deadline=None)


def found(text: str, *codes: str) -> list[Finding]:
    design = read_text(text, "case.yaml")
    sources = {"case.yaml": text}
    return list(
        analyse(design, sources, lambda s: read_text(s["case.yaml"], "case.yaml"), select=codes or CODES,
                verify_repairs=False).findings
    )  # fmt: skip


def verdicts(text: str, code: str) -> set[Verdict]:
    return {finding.verdict for finding in found(text, code)}


# -- contradictory actuation --------------------------------------------------------------------------------


@pytest.mark.slow
@SLOW
@given(a=st.integers(1, 40), b=st.integers(1, 40), one=st.sampled_from([">", ">="]), two=st.sampled_from(["<", "<="]))
def test_two_thresholds_clash_where_their_half_lines_meet(a: int, b: int, one: str, two: str) -> None:
    text = f"""
coherence: 1
loops:
  down: {{trigger: rack.power {one} {a} kW, actuation: {{signal: b.n, law: step, by: -5, bounds: [0, 64]}}}}
  up: {{trigger: rack.power {two} {b} kW, actuation: {{signal: b.n, law: step, by: 5, bounds: [0, 64]}}}}
"""
    meet = a < b or (a == b and one == ">=" and two == "<=")
    assert verdicts(text, "COH230") == {Verdict.CONFLICT if meet else Verdict.PROVED}


@pytest.mark.slow
@SLOW
@given(enter=st.integers(10, 40), gap=st.integers(1, 9), b=st.integers(1, 50))
def test_a_relay_acts_down_to_where_it_leaves(enter: int, gap: int, b: int) -> None:
    leave = enter - gap
    text = f"""
coherence: 1
loops:
  down:
    trigger: {{enter: rack.power > {enter} kW, leave: rack.power < {leave} kW}}
    actuation: {{signal: b.n, law: step, by: -5, bounds: [0, 64]}}
  up: {{trigger: rack.power < {b} kW, actuation: {{signal: b.n, law: step, by: 5, bounds: [0, 64]}}}}
"""
    assert verdicts(text, "COH230") == {Verdict.CONFLICT if b > leave else Verdict.PROVED}


@pytest.mark.slow
@SLOW
@given(high=st.integers(5, 30), low=st.integers(1, 40), by=st.integers(1, 4))
def test_a_standoff_is_what_the_executor_shows(high: int, low: int, by: int) -> None:
    """Both act in one instant for ever exactly where a brute-force run of the two rules ends in such an instant."""
    text = f"""
coherence: 1
components: {{rack: {{power: 10 kW + 1 kW * b.n}}}}
loops:
  down:
    timescale: {{period: 1 s}}
    trigger: rack.power > {high + 10} kW
    actuation: {{signal: b.n, law: step, by: -{by}, bounds: [0, 40], from: 0}}
  up:
    timescale: {{period: 1 s}}
    trigger: rack.power < {low + 10} kW
    actuation: {{signal: b.n, law: step, by: {by}, bounds: [0, 40]}}
"""
    x, both, moved = 0, False, True
    for _ in range(300):
        before = x
        went_down = x > high
        x = max(0, x - by) if went_down else x
        went_up = x < low
        after = min(40, x + by) if went_up else x
        both, moved, x = went_down and went_up and x not in {before, after}, after != before, after
    standing = both and not moved
    said = [f for f in found(text, "COH230", "COH232") if f.verdict is Verdict.CONFLICT]
    assert [f.code for f in said] == (["COH230" if high + 1 < low else "COH232"] if standing else [])
    assert all(finding.evidence.replayed for finding in said)


# -- livelock -----------------------------------------------------------------------------------------------


@pytest.mark.slow
@SLOW
@given(up=st.integers(20, 99), down=st.integers(10, 90), least=st.integers(1, 6))
def test_a_gap_must_be_wider_than_one_member_more(up: int, down: int, least: int) -> None:
    """Up at work / n > u, down at work / n < d: they wake each other where u n < d (n + 1) for the smallest n."""
    if down >= up:
        return
    text = f"""
coherence: 1
loops:
  up: {{trigger: web.work / web.n > {up} %, actuation: {{signal: web.n, law: step, by: 1, bounds: [{least}, 30]}}}}
  down: {{trigger: web.work / web.n < {down} %, actuation: {{signal: web.n, law: step, by: -1, bounds: [{least}, 30]}}}}
"""
    fights = up * least < down * (least + 1)
    assert verdicts(text, "COH232") == {Verdict.CONFLICT if fights else Verdict.PROVED}


def test_the_lap_of_a_livelock_is_what_the_executor_runs() -> None:
    text = """
coherence: 1
loops:
  up:
    timescale: {period: 1 s}
    trigger: web.work / web.n > 80 %
    actuation: {signal: web.n, law: step, by: 1, bounds: [1, 10], from: 1}
  down:
    timescale: {period: 1 s, phase: 500 ms}
    trigger: web.work / web.n < 50 %
    actuation: {signal: web.n, law: step, by: -1, bounds: [1, 10]}
"""
    (finding,) = (f for f in found(text, "COH232") if f.verdict is Verdict.CONFLICT)
    assert finding.evidence.numbers["web.n highest"][0] == 2
    work = Fraction(re.search(r"web.work = ([0-9./]+)", finding.message)[1])  # type: ignore[index]
    run = long_run(elaborate(read_text(text, "case.yaml")), Choices({"web.work": work, "web.n": Fraction(1)}))
    assert run.orbit is not None
    assert list(run.orbit.range_of("web.n")) == [finding.evidence.numbers["web.n lowest"][0], 2]
    assert run.orbit.turns("web.n")


# -- unsatisfiable targets ----------------------------------------------------------------------------------


@pytest.mark.slow
@SLOW
@given(work=st.integers(1, 12), tail=st.integers(40, 100), floor=st.integers(0, 18), most=st.integers(4, 15))
def test_two_promises_meet_where_a_line_of_counts_says_so(work: int, tail: int, floor: int, most: int) -> None:
    text = f"""
coherence: 1
components: {{chat: {{work: {work}, load: chat.work / (16 - batch.running)}}}}
loops:
  share: {{trigger: batch.queued > 0, actuation: {{signal: batch.running, law: step, by: 1, bounds: [0, {most}]}}}}
promises:
  tail: always chat.load <= {tail} %
  floor: always batch.running >= {floor}
"""
    room = min(Fraction(most), 16 - Fraction(100 * work, tail))
    together = room >= max(floor, 0)
    conflicts = [f for f in found(text, "COH231") if f.verdict is Verdict.CONFLICT]
    assert bool(conflicts) == (not together)
    for finding in conflicts:
        assert finding.evidence.certificate
        assert solver.unsat(finding.evidence.certificate, timeout_ms=5_000).unsat


numbers = st.integers(-6, 6)


@pytest.mark.slow
@SLOW
@given(rows=st.lists(st.tuples(st.sampled_from(["<=", ">="]), numbers, numbers, numbers), min_size=2, max_size=6))
def test_a_core_is_minimal(rows: list[tuple[str, int, int, int]]) -> None:
    trees = tuple(parse(f"{a} * x + {b} * y {op} {c}") for op, a, b, c in rows)
    asked = SatQuery(trees, {"x": Interval(Fraction(-3), Fraction(3)), "y": Interval(Fraction(0), Fraction(2))})
    core = satisfiability.core(asked)
    if core is None:
        assert isinstance(satisfiability.solve_query(asked), SatState)
        return
    assert solver.unsat(asked.script(core), timeout_ms=5_000).unsat
    for index in core:
        rest = [i for i in core if i != index]
        assert not rest or not solver.unsat(asked.script(rest), timeout_ms=5_000).unsat


def test_a_mean_may_leave_out_what_a_state_may_not() -> None:
    """8 on average with states of 0 or 16 alone: each state breaks `x == 8`, their mean does not."""
    text = """
coherence: 1
components: {batch: {rate: "mean_over(batch.running, 1 min)"}}
loops:
  share: {trigger: batch.queued > 0, actuation: {signal: batch.running, law: set, to: 16, bounds: [0, 16]}}
promises:
  mean: eventually_always batch.rate == 8
  ends: eventually_always batch.running <= 0 or batch.running >= 16
"""
    assert Verdict.CONFLICT not in verdicts(text, "COH231")


# -- dead policies ------------------------------------------------------------------------------------------


@SLOW
@given(small=st.integers(1, 20), large=st.integers(1, 200), short=st.integers(1, 10), ratio=st.integers(11, 40))
def test_a_window_is_hidden_where_the_densest_arrivals_stay_below_it(
    small: int, large: int, short: int, ratio: int
) -> None:
    long = short * ratio / Fraction(10)
    text = f"""
coherence: 1
limits:
  fast: {{counts: api.requests, at_most: {small}, window: {short} s, when_full: reject}}
  slow: {{counts: api.requests, at_most: {large}, window: {long * 1000} ms, when_full: reject}}
"""
    bursts = sum(1 for k in range(100) if k * short < long)  # a full burst at the start of each short window
    hidden_slow, hidden_fast = small * bursts <= large, large <= small
    dead = {f.of[0] for f in found(text, "COH213") if f.verdict is Verdict.CONFLICT}
    assert dead == ({"slow"} if hidden_slow else {"fast"} if hidden_fast else set())


@pytest.mark.slow
@SLOW
@given(levels=st.lists(st.integers(1, 30), min_size=2, max_size=4))
def test_a_rule_is_dead_exactly_where_an_earlier_threshold_is_as_low(levels: list[int]) -> None:
    rules = "\n".join(f"      - {{when: q.waiting > {level}, by: {n + 1}}}" for n, level in enumerate(levels))
    text = (
        f"coherence: 1\nloops:\n  scaler:\n    rules:\n{rules}\n    actuation: {{signal: web.desired, bounds: [1, 99]}}"
    )
    dead = sum(1 for n in range(1, len(levels)) if min(levels[:n]) <= levels[n])
    assert sum(f.verdict is Verdict.CONFLICT for f in found(text, "COH213")) == dead


# -- what they share ----------------------------------------------------------------------------------------


def fences() -> list[str]:
    found_: list[str] = []
    for name in MINE:
        found_ += re.findall(
            r"^```yaml\n(.*?)^```", next(TESTS.rglob(f"{name}.md")).read_text(), re.DOTALL | re.MULTILINE
        )
    return found_


@pytest.mark.slow
def test_every_certificate_of_the_cases_is_refuted_by_both_solvers() -> None:
    scripts = [
        f.evidence.certificate for text in fences() for f in found(text)
        if f.evidence.certificate and f.verdict in (Verdict.PROVED, Verdict.CONFLICT)
    ]  # fmt: skip
    assert len(scripts) > 20
    for script in scripts:
        assert solver.unsat(script, timeout_ms=10_000).unsat, script
        try:
            assert solver.recheck(script, timeout_ms=10_000).unsat, script
        except MissingExtraError:
            pytest.skip("cvc5 is not installed")


def test_rounding_keeps_what_holds() -> None:
    spans = {"x": Interval(Fraction(0), None), "y": point(3)}
    kept = rounder({"x": Fraction(80001, 2), "y": Fraction(3), "z": True}, spans, lambda at: at["x"] > 40_000)
    assert kept == {"x": Fraction(41_000), "y": Fraction(3), "z": True}


def test_both_orders_rest_where_the_finding_says() -> None:
    text = """
coherence: 1
components: {pod: {load: 60, usage: pod.load / (pod.replicas * pod.request)}}
loops:
  wide:
    timescale: {period: 1 min}
    target: {signal: pod.usage, setpoint: 1}
    actuation: {signal: pod.replicas, law: proportional, bounds: [1, 64], from: 4}
  tall:
    timescale: {period: 1 min}
    target: {signal: pod.usage, setpoint: 1}
    actuation: {signal: pod.request, law: proportional, bounds: [1, 64], from: 5}
"""
    (finding,) = (f for f in found(text, "COH234") if f.verdict is Verdict.CONFLICT)
    model = elaborate(read_text(text, "case.yaml"))
    for order in (("wide", "tall"), ("tall", "wide")):
        run = long_run(model, Choices(order=order))
        assert run.orbit is not None
        for path in ("pod.replicas", "pod.request"):
            assert run.orbit.lap[-1].after[path] == finding.evidence.numbers[f"{path}, {order[0]} first"][0]
