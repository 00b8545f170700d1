"""The checks of loops: what they answer, that witnesses replay, and that harmless twins stay quiet."""

from __future__ import annotations

import re
from fractions import Fraction
from functools import cache

import pytest

from coherence.checking.design_check import analyse
from coherence.findings.finding import Finding, Grade, Verdict
from coherence.findings.question_input import Subject
from coherence.findings.registry import question_pages
from coherence.language.reading import read_text
from coherence.loops.checks import (
    act_before_effect,
    amplification,
    cascade_amplification,
    integer_cycling,
    sensor_sign,
    time_scale_overlap,
)
from coherence.loops.checks._cascade_amplification import chains
from coherence.loops.checks._coupling import chained, feeds_back, reach
from coherence.model.elaborate import model_of

MODULES = {
    "COH302": amplification,
    "COH303": time_scale_overlap,
    "COH304": act_before_effect,
    "COH305": integer_cycling,
    "COH306": cascade_amplification,
    "COH307": sensor_sign,
}


def subject(text: str) -> Subject:
    return Subject(read_text(text, "x.yaml"), {"x.yaml": text})


@cache
def asked(code: str, text: str) -> tuple[Finding, ...]:
    return tuple(MODULES[code].ask(subject(text)))


def example(code: str) -> str:
    pages = {page.code: page.page for page in question_pages()}
    found = re.search(r"## Example\n```yaml\n(.*?)```", pages[code], re.DOTALL)
    assert found
    return found[1]


def hpa(signal: str = "web.usage", *, start: int = 120, more: str = "", timescale: str = "period: 15 s") -> str:
    return f"""coherence: 1
components: {{web: {{load: 100, usage: load / desired}}}}
loops:
  hpa:
    timescale: {{{timescale}}}
    target: {{signal: "{signal}", setpoint: 0.5, tolerance: 10 %}}
    actuation: {{signal: web.desired, law: proportional, bounds: [1, 1000], from: {start}}}
{more}"""


@pytest.mark.parametrize("code", ["COH302", "COH304", "COH305", "COH306", "COH307"])
def test_the_page_shows_a_conflict_with_a_replayed_witness(code: str) -> None:
    (finding,) = [f for f in asked(code, example(code)) if f.verdict is Verdict.CONFLICT]
    assert finding.evidence.replayed
    assert finding.evidence.witness
    assert finding.evidence.grade is Grade.PROVED
    assert len(finding.places) >= 2


def test_overlapping_time_scales_are_noted_and_never_a_conflict() -> None:
    (finding,) = asked("COH303", example("COH303"))
    assert finding.verdict is Verdict.NOTE
    assert finding.evidence.numbers["size settles in"] == (Fraction(135), "s")
    # with 9 members it acts at 0 s and at 15 s, and is off from 30 s on: a start inside the ranges, not at their ends
    assert finding.evidence.numbers["clock settles in"] == (Fraction(45), "s")


@pytest.mark.parametrize("code", sorted(MODULES))
def test_a_design_without_feedback_is_not_even_elaborated(code: str) -> None:
    plain = subject("""coherence: 1
components: {web: {load: 100}}
loops:
  one:
    timescale: {period: 15 s}
    target: {signal: web.load, setpoint: 50}
    actuation: {signal: web.desired, law: proportional, bounds: [1, 10], from: 1}
""")
    assert not list(MODULES[code].ask(plain))
    assert (model_of,) not in plain.queries.rows


def test_names_tell_feedback_and_chains() -> None:
    assert feeds_back(subject(hpa()).design)
    assert not chained(subject(hpa()).design)
    chain = subject(example("COH306"))
    assert chained(chain.design)
    assert "second" not in reach(chain.design)["first"]
    assert "first" in reach(chain.design)["second"]
    assert [[loop.name for loop in path.loops] for path in chains(chain.model)] == [["first", "second"]]


# -- act before effect


@pytest.mark.parametrize(("late", "lag"), [(15, 30), (30, 45), (45, 60)])
def test_an_action_is_seen_one_period_after_the_metric_is_that_old(late: int, lag: int) -> None:
    text = hpa(f"delayed(web.usage, {late} s)", timescale=f"period: 15 s, hold_down: {4 * late} s")
    (finding,) = asked("COH304", text)
    assert finding.evidence.numbers["effect seen after"] == (Fraction(lag), "s")
    assert finding.evidence.numbers["reaches"][0] == 334
    assert finding.verdict is Verdict.CONFLICT


@pytest.mark.slow
def test_waiting_for_the_effect_is_the_repair_and_it_holds() -> None:
    text = hpa("delayed(web.usage, 15 s)", timescale="period: 15 s, hold_down: 1 min")
    found = analyse(read_text(text, "x.yaml"), {"x.yaml": text}, lambda s: read_text(s["x.yaml"], "x.yaml")).findings
    (finding,) = [f for f in found if f.code == "COH304"]
    assert [edit.new for repair in finding.repairs for edit in repair.edits] == [", cooldown: 15 s"]
    assert finding.repairs[0].verified.startswith("re-checked")


def test_a_promise_about_the_command_decides_instead_of_the_tolerance() -> None:
    signal, timescale = "delayed(web.usage, 15 s)", "period: 15 s, hold_down: 1 min"
    kept = hpa(signal, timescale=timescale, more="promises: {paid: always web.desired <= 334}\n")
    broken = hpa(signal, timescale=timescale, more="promises: {paid: always web.desired <= 333}\n")
    assert [f.verdict for f in asked("COH304", kept)] == [Verdict.NOTE]
    (finding,) = asked("COH304", broken)
    assert finding.verdict is Verdict.CONFLICT
    assert finding.of == ("hpa", "paid")


@pytest.mark.parametrize("start", [182, 190, 200, 222])
def test_a_start_at_rest_shows_nothing(start: int) -> None:
    assert not asked("COH304", hpa("delayed(web.usage, 15 s)", start=start))


# -- integer cycling


def cycling(rate: int, tolerance: int, start: str = "3") -> str:
    return f"""coherence: 1
workload: {{web: {{rate: {rate} req/s}}}}
components: {{pool: {{usage: web.attempts / (pool.replicas * 10 req/s)}}}}
loops:
  hpa:
    timescale: {{period: 15 s}}
    target: {{signal: pool.usage, setpoint: 100 %, tolerance: {tolerance} %, sensor: [mean 45 s]}}
    actuation: {{signal: pool.replicas, law: proportional, bounds: [1, 40], from: {start}}}
"""


@pytest.mark.parametrize(("rate", "low", "high"), [(33, 3, 5), (53, 5, 7)])
def test_whole_numbers_alone_keep_it_swinging(rate: int, low: int, high: int) -> None:
    (finding,) = asked("COH305", cycling(rate, 0))
    numbers = finding.evidence.numbers
    assert finding.verdict is Verdict.CONFLICT
    assert (numbers["pool.replicas lowest"][0], numbers["pool.replicas highest"][0]) == (low, high)
    assert numbers["period"] == (Fraction(90), "s")
    assert numbers["pool.replicas smooth"][0] == Fraction(rate, 10)
    assert numbers["linear growth per lap"][0] < 1


@pytest.mark.parametrize(("rate", "tolerance"), [(47, 0), (56, 0), (53, 5), (33, 5)])
def test_it_depends_on_the_load_and_ends_with_a_tolerance(rate: int, tolerance: int) -> None:
    assert [f.verdict for f in asked("COH305", cycling(rate, tolerance))] == [Verdict.PROVED]


def test_a_loop_that_swings_over_the_reals_is_not_blamed_on_whole_numbers() -> None:
    assert not [f for f in asked("COH305", hpa("delayed(web.usage, 30 s)")) if f.verdict is Verdict.CONFLICT]


# -- sensor sign


def test_the_same_loop_with_either_metric() -> None:
    text = example("COH307")
    right = text.replace("signal: pool.free, setpoint: 0.2", "signal: pool.used / pool.replicas, setpoint: 0.8")
    assert [f.verdict for f in asked("COH307", text)] == [Verdict.CONFLICT]
    assert [f.verdict for f in asked("COH307", right)] == [Verdict.PROVED]


def test_positive_feedback_at_rest_is_undecided() -> None:
    rest = example("COH307").replace("setpoint: 0.2", "setpoint: 0.4")
    assert [f.verdict for f in asked("COH307", rest)] == [Verdict.UNDECIDED]


def test_a_metric_that_both_rises_and_falls_is_not_judged() -> None:
    assert not asked("COH307", hpa("web.usage + 0.001 * web.desired"))


# -- time scales


def test_separation_is_proved_with_a_certificate_that_a_solver_can_check() -> None:
    from coherence.base.solver import unsat

    text = """coherence: 1
components: {pool: {work: 60, usage: work / (members * speed)}}
loops:
  size:
    timescale: {period: 15 s}
    target: {signal: pool.usage, setpoint: 0.5, tolerance: 10 %}
    actuation: {signal: pool.members, law: proportional, bounds: [1, 12], from: 4}
  clock:
    timescale: {period: 5 min}
    target: {signal: pool.usage, setpoint: 0.5, tolerance: 20 %}
    actuation: {signal: pool.speed, law: proportional, bounds: [10, 12], from: 10}
"""
    (finding,) = asked("COH303", text)
    assert finding.verdict is Verdict.PROVED
    assert finding.evidence.certificate is not None
    assert unsat(finding.evidence.certificate, timeout_ms=10_000).unsat
    again = asked("COH303", text.replace("period: 5 min", "period: 15 s"))
    assert [f.verdict for f in again] == [Verdict.NOTE]


# -- cascades


def test_the_gain_of_a_chain_is_the_product_of_its_hops() -> None:
    (finding,) = asked("COH306", example("COH306"))
    numbers = finding.evidence.numbers
    product = float(numbers["gain of first"][0]) * float(numbers["gain of second"][0])
    assert product == pytest.approx(float(numbers["peak gain"][0]), rel=1e-9)


def test_tiers_that_follow_the_load_itself_are_quiet() -> None:
    text = example("COH306").replace(
        "front.pods + 3 * (front.pods - delayed(front.pods", "front.need + 3 * (front.need - delayed(front.need"
    )
    assert not asked("COH306", text)
