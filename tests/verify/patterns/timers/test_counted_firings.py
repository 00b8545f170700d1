"""Limits on how often timers fire, beside runs of the members that fire: their phases, lives and shortest times."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

import pytest

import coherence as co
from coherence.findings.finding import Verdict
from coherence.findings.question_input import Subject
from coherence.language.reading import read_text
from coherence.model.model import Interval
from coherence.verify.facts.design_facts import known
from coherence.verify.patterns.timers import _budget_causes, _counted_firings
from coherence.verify.patterns.timers._failure_budget import FailureBudget

HORIZON = 1200.0
SHORT, LONG, DRAWN = "short", "long", "drawn"


@dataclass(frozen=True)
class DrawnTimer:
    """Members, each with a timer, and a limit on all their firings; ranges as (low, high) in seconds."""

    kind: str  # every, from it (another timer), restart, evict, once
    members: tuple[int, int]
    time: tuple[int, int]
    first: int
    later: tuple[int, int]
    away: int
    life: int | None  # a timer that restarts the member
    window: tuple[int, int]
    allowed: tuple[int, int]
    per: str  # of the limit
    others: int

    @property
    def text(self) -> str:
        returns = f"after {self.away} s" if self.away else "always"
        then = {"restart": "restart x", "evict": "evict x"}.get(self.kind, "tell boss")
        time = f"first: {self.first} s, every: " if self.kind in ("every", "from it") else "after: "
        per = f", per: {self.per}" if self.per else ""
        what = "u" if self.kind == "from it" else "t"
        limit = f"counts: {what}, at_most: {_range(self.allowed)}, window: {_range(self.window, ' s')}"
        lines = [
            "coherence: 1",
            f"components: {{x: {{copies: {_range(self.members)}, returns: {returns}}}, o: {{copies: {self.others}}}}}",
            "timers:",
            f"  t: {{from: x starts, {time}{_range(self.time, ' s')}, then: {then}}}",
            f"  u: {{from: t, after: {_range(self.later, ' s')}, then: tell boss}}" if self.kind == "from it" else "",
            f"  kill: {{from: x starts, after: {self.life} s, then: restart x}}" if self.life else "",
            "limits:",
            f"  l: {{{limit}{per}, when_full: reject}}",
        ]
        return "\n".join(line for line in lines if line)


def _range(ends: tuple[int, int], unit: str = "") -> str:
    low, high = ends
    return f"{low}{unit}" if low == high else f"{low}{unit} .. {high}{unit}"


def _up(low: int, more: int) -> tuple[int, int]:
    return (low, low + more)


def _drawn(random_: random.Random) -> DrawnTimer:
    pick = random_.choice
    kind = pick(["every", "from it", "restart", "evict", "once"])
    life = pick([None, None, 25, 45]) if kind in ("every", "from it") else None
    return DrawnTimer(
        kind, _up(pick([1, 2, 3]), pick([0, 0, 1])), _up(pick([10, 20, 30]), pick([0, 5])), pick([0, 10, 40]),
        _up(pick([1, 5]), pick([0, 4])), pick([0, 15]), life, _up(pick([40, 60, 90]), pick([0, 20])),
        _up(pick(range(14)), pick([0, 3])), pick(["", "", "x", "replica", "o"]), pick([1, 3]),
    )  # fmt: skip


def _firings(random_: random.Random, drawn: DrawnTimer, start: float, mode: str) -> list[float]:
    """Returns when the timer of one member fires, through all its lives."""

    def takes(ends: tuple[int, int]) -> float:
        return {SHORT: ends[0], LONG: ends[1]}.get(mode, random_.uniform(*ends))

    fired: list[float] = []
    now, every = start, takes(drawn.time)
    while now < HORIZON:
        end = now + drawn.life if drawn.life else HORIZON
        if drawn.kind in ("restart", "evict"):
            now += takes(drawn.time)
            fired.append(now)
            now += drawn.away if drawn.kind == "evict" else 0
            continue
        if drawn.kind == "once":
            fired.append(now + every)
            break
        look = now + drawn.first + random_.choice([0, 0, every / 2, 0.99 * every])
        while look < end:
            fired.append(look + (takes(drawn.later) if drawn.kind == "from it" else 0))
            look += every
        now = end
    return fired


def _most_in(fired: list[float], window: int) -> int:
    """Returns the most firings in any half-open window."""
    ordered = sorted(fired)
    return max((sum(a <= b < a + window - 1e-9 for b in ordered) for a in ordered), default=0)


def _runs(random_: random.Random, drawn: DrawnTimer) -> Iterator[bool]:
    """Yields whether the limit is broken, for runs with so many members, times, and values of its own ranges."""
    for mode in (SHORT, LONG, DRAWN):
        for count in set(drawn.members):
            starts = [0.0] * count if random_.random() < 0.5 else [random_.uniform(0, 30) for _ in range(count)]
            each = [_firings(random_, drawn, start, mode) for start in starts]
            alone = drawn.per in ("x", "replica")
            groups = [each] if alone else [[[fired for own in each for fired in own]]]
            groups += [each] if drawn.per == "o" and drawn.others > 1 else []
            for fired in groups:
                for allowed, window in zip(drawn.allowed, reversed(drawn.window), strict=True):
                    yield max(_most_in(one, window) for one in fired) > allowed


@pytest.mark.parametrize("seed", range(60))
def test_no_run_breaks_what_is_proved_and_every_one_what_is_certain(seed: int) -> None:
    random_ = random.Random(seed)  # noqa: S311
    drawn = _drawn(random_)
    findings = [found for found in co.check(drawn.text, select="COH241").findings if found.code == "COH241"]
    broken = list(_runs(random_, drawn))
    never = drawn.life is not None and drawn.first >= drawn.life  # COH213 says so
    assert len(findings) == (0 if never else 1), drawn.text
    if never:
        return
    if findings[0].verdict is Verdict.PROVED:
        assert not any(broken), drawn.text
    if findings[0].certainty == "certain":
        assert all(broken), drawn.text


def test_a_timer_that_another_one_forestalls_spends_nothing() -> None:
    text = """coherence: 1
components: {x: {copies: 2, returns: always}}
timers:
  late: {from: x starts, after: 30 s, then: tell boss}
  kill: {from: x starts, after: 25 s, then: restart x}
limits: {l: {counts: late, at_most: 1, window: 1 min, when_full: reject}}
"""
    codes = {found.code for found in co.check(text).findings}
    assert "COH213" in codes
    assert "COH241" not in codes


def test_a_proof_says_that_an_outside_event_begins_the_timer_once() -> None:
    text = """coherence: 1
timers: {renew: {from: certificate issued, every: 20 d, then: reissue certificate}}
limits: {issuer: {counts: renew, at_most: 50, window: 7 d, when_full: reject}}
"""
    (found,) = co.check(text, select="COH241").findings
    assert found.verdict is Verdict.PROVED
    assert _counted_firings.BEGUN_ONCE.format("certificate issued", "renew") in found.assumptions


def test_what_members_that_come_and_go_fire_has_no_longest_gap() -> None:
    text = """coherence: 1
components: {x: {copies: 0 .. 2, returns: always}}
timers: {restart: {from: x starts, after: 30 s, then: restart x}}
limits: {l: {counts: x.restarts, at_most: 1, window: 1 min, when_full: fail and lose}}
"""
    subject = Subject(read_text(text, "d"), {"d": text})
    budget = FailureBudget(subject.design.limits["l"], "x", "restarts", 1, Fraction(60))
    (cause,) = _budget_causes.causes_of(known(subject), budget)
    assert cause.apart == Interval(Fraction(30), None)
