"""The changes of a repair, the fixes that sources name, and what a few conflicts offer first."""

from __future__ import annotations

from fractions import Fraction

import pytest

from coherence.language.reading import read_text
from tests.case_files import CASES
from tests.checking.repair.named_fixes import FIRST, Measured, changes, designs, fixes, measured, table

TIMERS = (
    "timers: {alive: {from: web starts, first: 60 s, every: 10 s, misses: 3, unless: web.load ends, then: stop web}}"
)
BEFORE = f"coherence: 1\ncomponents: {{web: {{takes: {{load: 1 min}}}}}}\n{TIMERS}\n"
SHARE = Fraction(4, 5)
NAMED = ("TR-03", "TR-11", "PS-01", "PS-03", "AW-03", "DD-08", "TS-01")


@pytest.mark.parametrize(
    ("old", "new", "change"),
    [
        ("misses: 3", "misses: 9", "timers.alive.misses up"),
        ("first: 60 s", "first: 1 s", "timers.alive.first down"),
        ("first: 60 s, ", "", "timers.alive.first removed"),
        ("misses: 3", "misses: 3, reply_within: 1 s", "timers.alive.reply_within added"),
        ("then: stop web", "then: restart web", "timers.alive.then set"),
    ],
)
def test_a_change_has_a_key_and_a_direction(old: str, new: str, change: str) -> None:
    assert changes(read_text(BEFORE), read_text(BEFORE.replace(old, new))) == (change,)


def test_every_fix_belongs_to_a_case() -> None:
    texts = [path.read_text(encoding="utf-8") for path in (CASES / "incidents").glob("*.md")]
    headings = [line.lstrip("# ") for text in texts for line in text.splitlines() if line.startswith("#")]
    assert [fix.case for fix in fixes() if not any(heading.startswith(fix.case) for heading in headings)] == []
    assert len({fix.case for fix in fixes()}) == len(fixes()) > 70


@pytest.mark.parametrize("case", NAMED)
def test_the_fix_of_the_source_comes_first_or_second_and_nothing_is_lost(case: str) -> None:
    rows = [measured(name, heading, text) for name, heading, text in designs() if heading.startswith(f"{case}:")]
    assert rows
    for row in rows:
        assert row.place is not None
        assert row.place <= FIRST
        assert not row.failing


@pytest.mark.slow
def test_four_of_five_designs_name_the_fix_of_their_source_first_or_second_and_no_repair_loses_anything() -> None:
    known = tuple(fix.case for fix in fixes())
    rows = [measured(name, heading, text) for name, heading, text in designs() if heading.startswith(known)]
    named = [row for row in rows if row.place is not None and row.place <= FIRST]
    assert len(rows) > 130
    assert len(named) >= SHARE * len(rows)
    assert [(row.name, row.failing) for row in rows if row.failing] == []


def test_the_table_counts_a_design_whose_fix_stands_third_as_missed() -> None:
    fix = fixes()[0]
    rows = [Measured("a", 2, 1, (), fix, 2), Measured("b", 1, 1, ("x",), fix, 3), Measured("c", 1, 0, (), None, None)]
    sums = table(rows)
    assert (sums["conflicts"], sums["with a proved repair"], sums["repairs that lose something"]) == (4, 2, 1)
    assert sums["named first or second"] == "1 (50 %)"
