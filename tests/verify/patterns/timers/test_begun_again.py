"""Lays the answer about a start that comes again after a crash beside every time of the crash and of the looks."""

from __future__ import annotations

import random

import pytest

from coherence.findings.finding import Verdict
from coherence.findings.question_input import Subject
from coherence.language.reading import read_text
from coherence.verify.patterns.timers import start_budget


def fires(first: int, every: int, misses: int, away: int) -> bool:
    """Returns whether so many looks in a row may come while the thing is away, in whole seconds."""
    for crash in range(first + 3 * every):
        for phase in range(every):
            row = 0
            for look in range(first + phase, first + 9 * every, every):
                row = row + 1 if crash <= look < crash + away else 0
                if row == misses:
                    return True
    return False


@pytest.mark.parametrize("seed", range(40))
def test_a_probe_fires_where_the_start_outlasts_its_looks(seed: int) -> None:
    draw = random.Random(seed)  # noqa: S311
    first, every, misses = draw.randint(0, 20), draw.randint(2, 6), draw.randint(1, 4)
    pause, load = draw.randint(0, 6), draw.randint(1, 14)
    text = (
        f"coherence: 1\ncomponents: {{server: {{takes: {{load: 1 s .. {load} s}}}}}}\n"
        f"timers:\n  kubelet: {{from: server crashes, after: {pause} s, then: server.load starts}}\n"
        f"  monitor: {{from: sidecar starts, first: {first} s, every: {every} s, misses: {misses}, "
        "unless: server.load ends, then: restart server}\n"
    )
    (answer,) = start_budget.ask(Subject(read_text(text, "drawn.yaml")))
    expected = Verdict.CONFLICT if fires(first, every, misses, pause + load) else Verdict.UNDECIDED
    assert answer.verdict is expected, text
    assert answer.certainty == ("possible" if expected is Verdict.CONFLICT else "")
