"""What causes an event, and which of two comes first."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coherence.base.places import NOWHERE
from coherence.findings.finding import Finding, Verdict
from coherence.findings.question_input import Subject
from coherence.language.design import Design
from coherence.language.reading import read_text
from coherence.language.sentences import event_of
from coherence.verify.events import graph, orders
from coherence.verify.events.graph import EventLink
from coherence.verify.events.orders import EventOrder
from coherence.verify.patterns.timers import gate, timer_against_activity, timer_order
from coherence.verify.timers.firing import FiringWindow

PIPELINE = """coherence: 1
components:
  server: {copies: 4, takes: {pull: 10 s .. 20 s, load: 60 s .. 90 s}}
  pod: {takes: {start: 5 s}}
timers:
  startup: {from: server starts, every: 10 s, misses: 60, unless: server.load ends, then: restart server}
  admit: {from: server.load ends, after: 1 s, then: pod.start starts}
  off: {from: server starts, after: unlimited, then: abort job}
"""


def design(text: str = PIPELINE) -> Design:
    return read_text(text, "t.yaml")


def ask(text: str) -> list[Finding]:
    subject = Subject(design(f"coherence: 1\n{text}\n"), {})
    return [finding for module in (timer_against_activity, timer_order, gate) for finding in module.ask(subject)]


@pytest.mark.parametrize(
    ("words", "key"),
    [
        ("server starts", "server.pull starts"),
        ("server.load ends", "server.load ends"),
        ("all of server.load end", "all of server.load ends"),
        ("startup", "startup fires"),
        ("startup fires", "startup fires"),
        ("startup starts", "server.pull starts"),
        ("startup ends", "server.load ends"),
        ("last ping seen", "last ping"),
        ("last ping", "last ping"),
        ("step hangs", "step hangs"),
    ],
)
def test_one_event_has_one_key(words: str, key: str) -> None:
    assert graph.key_of(event_of(words, NOWHERE), design()) == key


def test_a_chain_leads_back_to_what_nothing_causes() -> None:
    (chain,) = graph.chains("pod.start ends", graph.without_rests(graph.event_graph(design())))
    assert [link.effect.removesuffix("s") for link in chain] == [
        "pod.start end", "pod.start start", "admit fire",
        "server.load end", "server.load start", "server.pull end",
    ]  # fmt: skip
    assert orders.total(chain) == FiringWindow(Fraction(76), Fraction(116))


def test_a_rest_between_two_activities_is_not_bounded() -> None:
    (chain,) = graph.chains("server.load ends", graph.event_graph(design()))
    assert orders.total(chain) == FiringWindow(Fraction(70), None)


def test_a_timer_that_is_off_causes_nothing() -> None:
    assert "off fires" not in graph.event_graph(design())


def test_a_circle_of_timers_has_an_end() -> None:
    circle = "coherence: 1\ntimers: {a: {from: b, after: 1 s, then: ring}, b: {from: a, after: 2 s, then: ring}}\n"
    (chain,) = graph.chains("a fires", graph.event_graph(design(circle)))
    assert [(link.effect, link.cause) for link in chain] == [("a fires", "b fires")]


def test_too_many_ways_are_refused() -> None:
    many = "".join(f"  t{n}: {{from: e{n}, after: 1 s, then: pod.start starts}}\n" for n in range(40))
    text = f"coherence: 1\ncomponents: {{pod: {{takes: {{start: 1 s}}}}}}\ntimers:\n{many}"
    with pytest.raises(OverflowError, match=r"more than 32 ways lead to 'pod\.start ends'"):
        graph.chains("pod.start ends", graph.event_graph(design(text)))


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


@settings(max_examples=100, deadline=None)
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
