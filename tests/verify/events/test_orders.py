"""Which of two events comes first."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coherence.findings.finding import Finding, Verdict
from coherence.findings.question_input import Subject
from coherence.language.reading import read_text
from coherence.verify.events import orders
from coherence.verify.events.graph import EventLink
from coherence.verify.events.orders import EventOrder
from coherence.verify.patterns.timers import gate, timer_against_activity, timer_order
from coherence.verify.timers.firing import FiringWindow
from tests.draws import few


def ask(text: str) -> list[Finding]:
    subject = Subject(read_text(f"coherence: 1\n{text}\n", "t.yaml"), {})
    return [finding for module in (timer_against_activity, timer_order, gate) for finding in module.ask(subject)]


def link(name: str, low: int, high: int | None, kind: str = "timer") -> EventLink:
    return EventLink(
        kind, name, "cause", name, FiringWindow(Fraction(low), Fraction(high) if high is not None else None)
    )


@pytest.mark.parametrize(
    ("first", "second", "said"),
    [
        (link("a", 1, 2), link("b", 3, 4), "before"),
        (link("a", 1, 3), link("b", 3, 4), "possible"),
        (link("a", 3, 3), link("b", 3, 3), "after"),
        (link("a", 1, 3, "activity"), link("b", 3, 4), "touches"),
        (link("a", 1, 3, "activity"), link("b", 3, 4, "activity"), "possible"),
        (link("a", 1, 3), link("b", 3, 4, "activity"), "possible"),
        (link("a", 4, 5), link("b", 3, 4), "after"),
        (link("a", 1, None), link("b", 3, 4), "unknown"),
        (link("a", 5, None), link("b", 3, 4), "after"),
        (link("a", 1, 2), link("b", 3, None), "before"),
    ],
)
def test_how_two_windows_stand(first: EventLink, second: EventLink, said: str) -> None:
    assert orders.relation(EventOrder("cause", (first,), (second,))) == said


def test_a_cause_precedes_its_effect() -> None:
    assert orders.relation(EventOrder("cause", (), (link("b", 0, None),))) == "before"
    assert orders.relation(EventOrder("cause", (link("a", 0, 0),), ())) == "after"


windows = st.tuples(st.integers(0, 20), st.integers(0, 20), st.sampled_from(["timer", "activity"]))


@settings(max_examples=few(100), deadline=None)
@given(st.lists(windows, min_size=1, max_size=3), st.lists(windows, min_size=1, max_size=3), st.data())
def test_no_choice_of_times_contradicts_the_relation(
    one: list[tuple[int, int, str]], other: list[tuple[int, int, str]], data: st.DataObject
) -> None:
    first, second = (tuple(link(f"{n}", w[0], w[0] + w[1], w[2]) for n, w in enumerate(ws)) for ws in (one, other))
    said = orders.relation(EventOrder("cause", first, second))
    a, b = (sum(data.draw(st.integers(w[0], w[0] + w[1])) for w in ws) for ws in (one, other))
    if said == "before":
        assert a < b
    elif said == "touches":
        assert a <= b
    elif said == "after":
        assert a >= b
    else:
        assert sum(w[0] + w[1] for w in one) >= sum(w[0] for w in other)
        assert sum(w[0] for w in one) < sum(w[0] + w[1] for w in other)


NODE = "components: {node: {takes: {partition: 30 s .. 90 s}}, pod: {takes: {start: 5 s .. 20 s}}}\n"
GATED = "promises: {gate: node.partition ends before pod.start ends}"


def test_two_ways_to_start_make_a_gate_that_can_be_passed_by() -> None:
    gate_alone = NODE + "timers: {a: {from: node.partition ends, after: 0 s, then: pod.start starts}}\n" + GATED
    gate_and_more = gate_alone.replace(
        "timers: {", "timers: {b: {from: someone asks, after: 0 s, then: pod.start starts}, "
    )
    assert [(f.code, f.verdict) for f in ask(gate_alone)] == [("COH219", Verdict.PROVED)]
    assert [(f.code, f.verdict) for f in ask(gate_and_more)] == [("COH219", Verdict.CONFLICT)]


def test_the_reverse_of_a_gate_is_a_conflict() -> None:
    text = NODE + "timers: {a: {from: pod.start ends, after: 0 s, then: node.partition starts}}\n" + GATED
    assert [(f.code, f.verdict, f.certainty) for f in ask(text)] == [("COH208", Verdict.CONFLICT, "certain")]


def test_the_order_of_takes_alone_proves_no_promise() -> None:
    text = (
        "components: {pod: {takes: {pull: 10 s, load: 60 s}}}\npromises: {order: pod.pull ends before pod.load starts}"
    )
    assert [(f.verdict, f.message[:29]) for f in ask(text)] == [(Verdict.UNDECIDED, "needs what starts pod.load: h")]


@pytest.mark.parametrize(
    ("after", "verdict"), [("30 min", Verdict.UNDECIDED), ("50 min", Verdict.PROVED), ("1 s", Verdict.CONFLICT)]
)
def test_a_loop_that_may_prolong_an_activity_stops_a_proof(after: str, verdict: Verdict) -> None:
    text = (
        "components: {rank: {takes: {step: 1 s .. 2 s, pause: 5 min .. 40 min}}}\n"
        "loops: {shed: {trigger: rank.temp > 85 C, actuation: {signal: rank.pause, law: set, to: 1}}}\n"
        f"timers: {{dog: {{from: rank.step starts, after: {after}, unless: rank.step ends, then: restart rank}}}}"
    )
    (found,) = ask(text)
    assert found.verdict is verdict


def test_promises_about_tries_belong_to_another_question() -> None:
    assert not ask("timers: {cool: {from: limited, after: 60 s, then: resume}}\npromises: {p: cool before last try}")


def test_the_witness_of_a_missing_gate_begins_with_the_activities_whose_length_is_stated() -> None:
    gated = "promises: {gate: node.partition ends before pod.start ends}"
    both = "components: {node: {takes: {partition: 30 s .. 90 s}}, pod: {takes: {start: 5 s .. 20 s}}}"
    (finding,) = ask(f"{both}\n{gated}")
    assert [(float(step.time or 0), step.text) for step in finding.evidence.witness] == [
        (0, "pod.start starts"), (0, "node.partition starts"),
        (5, "pod.start ends"), (90, "node.partition ends only now"),
    ]  # fmt: skip
