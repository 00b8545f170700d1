"""Repairs of timers: after each the earliest or latest firing lies a tenth beyond the stated time."""

from __future__ import annotations

from fractions import Fraction

import pytest

from coherence.findings.question_input import Subject
from coherence.findings.repairs import apply
from coherence.language.reading import read_text
from coherence.verify.timers.firing import FiringWindow, firing
from coherence.verify.timers.repairs import begin_with, later, sooner, startup_probe

FILE = "design.yaml"
ONCE = "after: 10 s .. 12 s"
PROBE = "first: 5 s, every: 10 s, misses: 3, reply_within: 1 s"
SLOW = PROBE.replace("5 s", "15 s")


def windows(body: str, way: str, than: int) -> list[FiringWindow]:
    """Returns when the timer fires after each repair."""
    text = f"coherence: 1\ncomponents: {{pool: {{}}}}\ntimers: {{t: {{from: pool starts, {body}, then: kill pool}}}}\n"
    design = read_text(text, FILE)
    subject = Subject(design, {FILE: text})
    repairs = later(subject, design.timers["t"], Fraction(than)) if way == "later" else sooner(
        subject, design.timers["t"], Fraction(than)
    )  # fmt: skip
    found = []
    for repair in repairs:
        changed = apply(list(repair.edits), subject.sources)
        assert changed is not None
        fires = firing(read_text(changed[FILE], FILE).timers["t"])
        assert fires is not None
        found.append(fires.window)
    return found


@pytest.mark.parametrize(("body", "than", "count"), [(ONCE, 20, 1), (PROBE, 60, 2), (f"{ONCE}, jitter: 2 s", 20, 1)])
def test_a_later_timer_fires_a_tenth_after_the_time(body: str, than: int, count: int) -> None:
    found = windows(body, "later", than)
    assert len(found) == count
    for window in found:
        assert Fraction(11, 10) * than <= window.earliest <= 2 * than  # beyond, and not by far


@pytest.mark.parametrize(
    ("body", "than", "count"),
    [(ONCE, 6, 1), (PROBE, 33, 1), (SLOW, 44, 2), (f"{ONCE}, jitter: 2 s", 6, 1)],
)
def test_a_sooner_timer_fires_a_tenth_before_the_time(body: str, than: int, count: int) -> None:
    found = windows(body, "sooner", than)
    assert len(found) == count
    for window in found:
        assert window.latest is not None
        assert Fraction(than, 4) <= window.latest <= Fraction(10, 11) * than


def test_a_timer_begins_with_another_event() -> None:
    text = f"coherence: 1\ncomponents: {{pool: {{}}}}\ntimers: {{t: {{from: pool starts, {ONCE}, then: kill pool}}}}\n"
    design = read_text(text, FILE)
    subject = Subject(design, {FILE: text})
    (repair,) = begin_with(subject, design.timers["t"], "pool ready")
    changed = apply(list(repair.edits), subject.sources)
    assert changed is not None
    assert read_text(changed[FILE], FILE).timers["t"].start is not None
    assert "from: pool ready" in changed[FILE]


PROBED = """coherence: 1
components: {web: {takes: {boot: 2 min}}}
timers:
  alive: {from: web starts, first: 60 s, every: 10 s, misses: 3, unless: web.boot ends, then: restart web}
"""


@pytest.mark.parametrize("text", [PROBED, PROBED.replace("\n  alive: ", " {alive: ").replace("web}\n", "web}}\n")])
def test_a_start_gets_a_probe_of_its_own_in_block_and_in_flow(text: str) -> None:
    design = read_text(text, FILE)
    (repair,) = startup_probe(Subject(design, {FILE: text}), design.timers["alive"], Fraction(120))
    changed = apply(list(repair.edits), {FILE: text})
    assert changed is not None
    timers = read_text(changed[FILE], FILE).timers
    assert list(timers) == ["startup", "alive"]
    assert timers["alive"].start == timers["alive"].unless
    fires = firing(timers["startup"])
    assert fires is not None
    assert Fraction(120) * Fraction(11, 10) <= fires.window.earliest <= 150


def test_a_design_that_has_a_startup_probe_gets_no_other_one() -> None:
    text = PROBED.replace("alive:", "startup:")
    design = read_text(text, FILE)
    assert not list(startup_probe(Subject(design, {FILE: text}), design.timers["startup"], Fraction(120)))
