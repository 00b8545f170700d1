"""Members that a design takes away itself: what proofs about removals and lives say of drains, updates and evictions.

Five members of 60 req/s carry 200 req/s with one of them out, and with two out they do not.
"""

from __future__ import annotations

from fractions import Fraction
from types import ModuleType

import pytest

from coherence.findings.finding import Finding, Verdict
from coherence.findings.question_input import Subject
from coherence.language.reading import read_text
from coherence.verify.facts.members_that_stay import is_updated
from coherence.verify.patterns.limits import removal_cascade
from coherence.verify.patterns.timers import spent_budget

PODS = """coherence: 1
workload: {requests: {rate: 200 req/s}}
components: {pods: {copies: 5, load: requests.rate, rate_per_replica: 60 req/s, returns: always}}
timers: {readiness: {from: pods overloaded, every: 5 s, misses: 3, then: unlist pods}}
"""
CAP = "limits: {cap: {counts: pods.unlisted, at_most: 1}}\n"
UPDATED_PODS = (
    "limits: {cap: {counts: pods.unlisted, at_most: 1}, away: {counts: pods.down, at_most: 1}, "
    "surge: {counts: pods.extra, at_most: 1}}\n"
)
NODES = "places: {node: {count: 5, KIND: 1}}\n"
RENEW = "loops: {renew: {trigger: pods.age > 1 d, timescale: {period: 60 s}, actuation: {evict: pods}}}\n"
RUNNER = """coherence: 1
components: {runner: {copies: 1 .. 3, returns: always}}
limits: {lives: {counts: runner.SIGNAL, at_most: 5, window: WINDOW, per: runner, when_full: fail and lose}EXTRA}
timers: {spot: {from: runner starts, after: 4 h, then: evict runner}}
"""
SURGE = ", away: {counts: runner.down, at_most: 1}, surge: {counts: runner.extra, at_most: 1}"
SHRINK = (
    "loops: {hpa: {trigger: runner.load < 1, timescale: {period: 1 min}, "
    "actuation: {signal: runner.copies, law: step, by: -1, bounds: [1, 3]}}}\n"
)


def answer(question: ModuleType, text: str) -> Finding:
    (found,) = question.ask(Subject(read_text(text), {"<design>": text}))
    assert isinstance(found, Finding)
    return found


def carries(out: int) -> bool:
    """Decides whether those that are left carry what is asked."""
    return (5 - out) * Fraction(60) > 200


@pytest.mark.parametrize(
    ("text", "named"),
    [
        (PODS + CAP, ()),
        (PODS + CAP + NODES.replace("KIND", "lost"), ("pods stands on no place that goes away",)),
        (PODS + CAP + NODES.replace("KIND", "drained"), ("pods stands on no place that goes away",)),
        (PODS + UPDATED_PODS, ("no update of pods takes members away meanwhile",)),
    ],
)
def test_a_proof_that_the_rest_carry_the_load_names_what_else_takes_members(text: str, named: tuple[str, ...]) -> None:
    found = answer(removal_cascade, text)
    assert (found.verdict, found.assumptions) == (Verdict.PROVED, named)
    assert carries(1)
    assert not carries(2)  # which is what each of the assumptions rules out


@pytest.mark.parametrize(
    ("limit", "updated"),
    [
        ("counts: pods.extra, at_most: 1", True),
        ("counts: pods.down, at_most: 1", False),
        ("counts: others.extra, at_most: 1", False),
    ],
)
def test_limits_on_extra_members_or_of_updates_say_that_a_thing_is_updated(limit: str, updated: bool) -> None:
    text = f"coherence: 1\ncomponents: {{pods: {{copies: 5}}, others: {{copies: 5}}}}\nlimits: {{l: {{{limit}}}}}\n"
    assert is_updated(read_text(text), "pods") is updated


def test_an_eviction_that_no_cap_holds_back_is_asked_about() -> None:
    found = answer(removal_cascade, PODS + CAP + RENEW)
    assert found.verdict is Verdict.UNDECIDED
    assert "gone at once by renew" in found.message


def runner(signal: str, window: str = "12 h", extra: str = "", more: str = "") -> str:
    return RUNNER.replace("SIGNAL", signal).replace("WINDOW", window).replace("EXTRA", extra) + more


@pytest.mark.parametrize(
    ("text", "named"),
    [
        (runner("evictions"), ()),
        (runner("evictions", more=NODES.replace("KIND", "drained")), ("runner stands on no place that goes away",)),
        (runner("failures", more=NODES.replace("KIND", "lost")), ("runner stands on no place that goes away",)),
        (runner("failures", extra=SURGE), ("no update of runner takes members away meanwhile",)),
        (runner("evictions", more=SHRINK), ("what hpa takes away of runner counts as none of its evictions",)),
    ],
)
def test_a_proof_of_enough_lives_names_what_else_may_count(text: str, named: tuple[str, ...]) -> None:
    found = answer(spent_budget, text)
    assert (found.verdict, found.assumptions) == (Verdict.PROVED, named)


@pytest.mark.parametrize(("signal", "named"), [("evictions", False), ("failures", True), ("crashes", True)])
def test_a_budget_of_failures_that_evictions_spend_says_that_they_count(signal: str, named: bool) -> None:
    """Six evictions come in 24 h, and five lives are given: whether an eviction is a failure decides."""
    found = answer(spent_budget, runner(signal, "25 h"))
    words = f"an eviction by spot counts as one of the {signal} of runner"
    assert (found.verdict, words in found.assumptions) == (Verdict.CONFLICT, named)
