"""What causes an event."""

from __future__ import annotations

from fractions import Fraction

import pytest

from coherence.base.places import NOWHERE
from coherence.language.design import Design
from coherence.language.reading import read_text
from coherence.language.sentences import event_of
from coherence.verify.events import graph, orders
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
