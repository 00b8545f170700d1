"""What causes an event."""

from __future__ import annotations

import pytest

from coherence.base.places import NOWHERE
from coherence.language.design import Design
from coherence.language.reading import read_text
from coherence.language.sentences import event_of
from coherence.verify.events import graph

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


def test_a_timer_that_is_off_causes_nothing() -> None:
    assert "off fires" not in graph.event_graph(design())
