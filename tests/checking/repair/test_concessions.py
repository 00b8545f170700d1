"""What an edit gives up or buys is named."""

from __future__ import annotations

import pytest

from coherence.checking.repair.concessions import concessions, patience
from coherence.language.reading import read_text

DESIGN = """coherence: 1
infrastructure: {tiers: {h100: {uses: h100_sxm, count: 32}}, links: [{ends: [a, b], count: 2, bandwidth: 10 Gbit/s}]}
places: {n1: {gpu: 8}}
placement: {web: [spread by zone <= 1, only on zone a, prefer spread by node <= 1]}
workload: {users: {deadline: 7 s}}
components: {web: {copies: 4, room: 8 GiB, drain: 30 s}}
calls: [{from: a, to: b, tries: 3, deadline: 5 s}, {from: b, to: c, deadline: 1 s}]
promises: {few: attempts(b) per call(a) <= 2}
loops:
  up: {actuation: {signal: web.copies, by: 1}}
  down: {actuation: {signal: web.copies, by: -1}}
  apply: {trigger: always, actuation: {signal: web.size, to: 1}}
  grow: {trigger: web.load > 5, actuation: {signal: web.size, to: 2}}
"""


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("<= 2", "<= 3", ("promise few is relaxed",)),
        ("count: 32", "count: 40", ("h100 has more members",)),
        ("count: 2,", "count: 3,", ("the link a - b has more of what it is given",)),
        ("bandwidth: 10", "bandwidth: 20", ("the link a - b has more of what it is given",)),
        ("bandwidth: 10", "bandwidth: 5", ()),
        ("gpu: 8", "gpu: 12", ("n1 has more room",)),
        ("  up: {actuation: {signal: web.copies, by: 1}}\n", "", ("up is taken away",)),
        ("to: 1", "to: unset", ()),
        ("to: 2", "to: unset", ("grow leaves web.size alone",)),
        ("copies: 4", "copies: 5", ("web has more of what it is given",)),
        ("room: 8 GiB", "room: 9 GiB", ("web has more of what it is given",)),
        ("[spread by zone <= 1", "[prefer spread by zone <= 1", ("web may break `spread by zone <= 1`",)),
        ("zone <= 1", "zone <= 2", ("web may break `spread by zone <= 1`",)),
        (", only on zone a", "", ("web may break `only on zone a`",)),
        (", prefer spread by node <= 1", "", ()),
        ("drain: 30 s", "drain: 60 s", ()),
        ("copies: 4", "copies: 3", ()),
        ("deadline: 7 s", "deadline: 8 s", ("users waits longer",)),
        ("deadline: 7 s", "deadline: 6 s", ()),
        ("count: 32", "count: 16", ()),
        ("tries: 3", "tries: 2", ()),
        ("deadline: 5 s", "deadline: 9 s", ()),
    ],
)
def test_promises_and_hardware_are_conceded(old: str, new: str, words: tuple[str, ...]) -> None:
    assert old in DESIGN
    assert concessions(read_text(DESIGN), read_text(DESIGN.replace(old, new))) == words


def test_the_patience_of_a_caller_that_nobody_calls_is_that_of_a_person() -> None:
    assert patience(read_text(DESIGN), read_text(DESIGN.replace("5 s", "9 s"))) == ("a waits longer",)
    assert patience(read_text(DESIGN), read_text(DESIGN.replace("5 s", "4 s"))) == ()
    assert patience(read_text(DESIGN), read_text(DESIGN.replace("1 s", "2 s"))) == ()


@pytest.mark.parametrize(
    ("component", "then", "words"),
    [
        ("api: {}", "call api", ("api has to grant a higher quota",)),
        ("api: {copies: 3}", "call api", ()),
        ("api: {takes: {serve: 1 s}}", "api.serve starts", ()),
        ("api: {}", "renew certificate", ("who sets it has to grant a higher quota",)),
    ],
)
def test_a_quota_on_firings_is_of_what_they_act_on(component: str, then: str, words: tuple[str, ...]) -> None:
    text = f"""coherence: 1
components: {{{component}}}
timers: {{fetch: {{from: outside, every: 1 min, then: {then}}}}}
limits: {{quota: {{counts: fetch, at_most: 10, window: 1 h, when_full: reject}}}}
"""
    for raised in ("at_most: 60", "window: 10 min"):
        kind = raised.partition(":")[0]
        edited = text.replace({"at_most": "at_most: 10", "window": "window: 1 h"}[kind], raised)
        assert concessions(read_text(text), read_text(edited)) == words
    assert concessions(read_text(text), read_text(text.replace("1 h", "2 h"))) == ()
