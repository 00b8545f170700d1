"""Limits on crash loops beside a plain run of one: it fails at once each time, and is begun again after its wait."""

from __future__ import annotations

from fractions import Fraction

import pytest

from coherence.findings.finding import Verdict
from coherence.language.reading import read_text
from coherence.verify.events.crash_loops import crash_loops
from tests.case_files import FILE, findings_of

DESIGN = """coherence: 1
limits: {{cap: {{counts: again, at_most: {allowed}, window: {window} s}}}}
timers: {{again: {{from: web fails, after: {wait} s, then: restart web}}}}
"""


def is_reached(wait: int, allowed: int, window: int) -> bool:
    """Decides by running it whether more restarts than are allowed fall in a window that begins with one of them."""
    begun = [Fraction(wait * number) for number in range(1, allowed + 3)]
    return any(sum(start <= time <= start + window for time in begun) > allowed for start in begun)


@pytest.mark.parametrize("window", [1, 9, 10, 11, 30])
@pytest.mark.parametrize(("wait", "allowed"), [(1, 1), (2, 5), (5, 2), (5, 6), (9, 1), (10, 3)])
def test_a_limit_is_reached_where_the_fastest_crash_loop_reaches_it(wait: int, allowed: int, window: int) -> None:
    findings = findings_of(DESIGN.format(wait=wait, allowed=allowed, window=window), repairs=False)
    verdicts = [finding.verdict for finding in findings if finding.code == "COH213"]
    assert verdicts == [Verdict.PROVED if is_reached(wait, allowed, window) else Verdict.CONFLICT]


def test_what_only_ends_a_thing_or_runs_from_elsewhere_begins_no_crash_loop_again() -> None:
    for then, event in [("stop web", "web fails"), ("restart web", "other fails"), ("restart web", "web asks")]:
        text = DESIGN.format(wait=1, allowed=1, window=1)
        text = text.replace("restart web", then).replace("web fails", event)
        assert crash_loops(read_text(text, FILE)) == ()
