"""Ways that lead to an event."""

from __future__ import annotations

from fractions import Fraction

import pytest

from coherence.language.design import Design
from coherence.language.reading import read_text
from coherence.verify.events import event_ways, graph, orders
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


def test_a_chain_leads_back_to_what_nothing_causes() -> None:
    (chain,) = event_ways.chains("pod.start ends", graph.without_rests(graph.event_graph(design())))
    assert [link.effect.removesuffix("s") for link in chain] == [
        "pod.start end", "pod.start start", "admit fire",
        "server.load end", "server.load start", "server.pull end",
    ]  # fmt: skip
    assert orders.total(chain) == FiringWindow(Fraction(76), Fraction(116))


def test_a_rest_between_two_activities_is_not_bounded() -> None:
    (chain,) = event_ways.chains("server.load ends", graph.event_graph(design()))
    assert orders.total(chain) == FiringWindow(Fraction(70), None)


def test_a_circle_of_timers_has_an_end() -> None:
    circle = "coherence: 1\ntimers: {a: {from: b, after: 1 s, then: ring}, b: {from: a, after: 2 s, then: ring}}\n"
    (chain,) = event_ways.chains("a fires", graph.event_graph(design(circle)))
    assert [(link.effect, link.cause) for link in chain] == [("a fires", "b fires")]


def test_too_many_ways_are_refused() -> None:
    many = "".join(f"  t{n}: {{from: e{n}, after: 1 s, then: pod.start starts}}\n" for n in range(40))
    text = f"coherence: 1\ncomponents: {{pod: {{takes: {{start: 1 s}}}}}}\ntimers:\n{many}"
    with pytest.raises(OverflowError, match=r"more than 32 ways lead to 'pod\.start ends'"):
        event_ways.chains("pod.start ends", graph.event_graph(design(text)))
