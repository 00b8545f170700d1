"""Repairs of a budget for a start: more time, or a timer that begins when the start has ended."""

from __future__ import annotations

import pytest

from coherence.findings.question_input import Subject
from coherence.findings.repairs import apply
from coherence.language.reading import read_text
from coherence.verify.patterns.timers import start_budget

TEXT = """coherence: 1
components: {{server: {{takes: {{load: 3 min .. 10 min}}}}}}
timers:
  liveness: {{from: server starts, first: 120 s, every: 10 s, misses: 3, unless: {unless}, then: restart server}}
"""


@pytest.mark.parametrize("unless", ["server.load ends"])
def test_a_probe_that_kills_a_start_waits_longer_or_begins_after_it(unless: str) -> None:
    text = TEXT.format(unless=unless)
    (found,) = start_budget.ask(Subject(read_text(text, "d"), {"d": text}))
    changed = [apply(repair.edits, {"d": text}) for repair in found.repairs]
    lines = [one["d"].splitlines()[-1] for one in changed if one is not None]
    assert any(f"from: {unless}, first: 120 s" in line for line in lines)
    assert any("from: server starts" in line and line != text.splitlines()[-1] for line in lines)
