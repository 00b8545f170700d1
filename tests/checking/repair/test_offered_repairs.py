"""Holds the repairs that conflicts of the cases offer against what a repair must keep, by plain code of its own.

Each proved repair is written into the text, the text is read anew and asked as a whole.  The conflict is proved not to
happen, no conflict is new, and every objective stands: promises, setpoints, bounds and tiers are those of before or
narrower unless the repair says what it concedes, and no policy is gone or switched off.
"""

from __future__ import annotations

import pytest

from coherence.findings.finding import Finding, Repair, Verdict
from coherence.language.reading import read_text
from tests.case_files import CASES, FILE, Case, cases, findings_of
from tests.checking.repair.kept_objectives import lost, unmarked, written

FOLDERS = ("verify/patterns/calls", "verify/patterns/timers", "verify/patterns/writers", "verify/patterns/promises")
EVERY = 9  # one case in so many
DRAWN = [
    case
    for case in cases(CASES)
    if not case.signals and case.name.startswith(FOLDERS)
    and any(mark.verdict == "conflict" for mark in case.expected)
][::EVERY]  # fmt: skip


def conflicts(findings: tuple[Finding, ...]) -> set[tuple[str, tuple[str, ...]]]:
    return {(f.code, f.of) for f in findings if f.verdict is Verdict.CONFLICT}


@pytest.mark.parametrize(
    "case", [pytest.param(case, id=case.name, marks=[pytest.mark.slow] * case.slow) for case in DRAWN]
)
def test_a_proved_repair_keeps_what_the_design_wants(case: Case) -> None:
    text, before = case.text, findings_of(case.text)
    for finding in before:
        for repair in (repair for repair in finding.repairs if repair.proved):
            after = written(text, repair.edits)
            left = conflicts(findings_of(after, repairs=False))
            assert (finding.code, finding.of) not in left
            assert left <= conflicts(before)
            assert not list(lost(read_text(text, FILE), read_text(after, FILE), repair, finding.of))
        assert not unmarked(finding.repairs)


def test_the_predicate_tells_what_is_lost() -> None:
    text = """coherence: 1
loops: {hpa: {trigger: web.load > 3, actuation: {signal: web.size, law: step, by: 1, bounds: [1, 9]}}}
promises: {few: always web.size <= 8}
components: {web: {copies: 4, takes: {boot: 1 min}}}
workload: {users: {rate: 9 req/s}}
limits: {guard: {counts: web.queue, at_most: 5, at_least: 2}}
timers: {alive: {from: web starts, every: 9 s, misses: 3, unless: web.boot ends, then: restart web}}
"""
    plain = Repair((), "")
    for old, new, what in (
        ("<= 8", "<= 9", "few"), ("[1, 9]", "[1, 12]", "hpa.bounds"), ("[1, 9]", "[4, 4]", "hpa.bounds"),
        ("by: 1", "by: 0", "hpa.by"), ("hpa:", "vpa:", "loops.hpa"), ("copies: 4", "copies: 5", "web.copies"),
        ("copies: 4", "copies: 3", "web.copies"), ("boot: 1 min", "boot: 1 s", "web.takes"),
        ("9 req/s", "8 req/s", "users.rate"), ("at_most: 5", "at_most: 6", "guard.at_most"),
        ("at_least: 2", "at_least: 1", "guard.at_least"), ("from: web starts", "from: web.boot ends", "alive.unless"),
    ):  # fmt: skip
        changed = read_text(text.replace(old, new), FILE)
        if what == "loops.hpa":
            assert set(read_text(text, FILE).loops) - set(changed.loops) == {"hpa"}
        else:
            assert list(lost(read_text(text, FILE), changed, plain)) == [what]
    assert not list(lost(read_text(text, FILE), read_text(text.replace("<= 8", "<= 9"), FILE),
                         Repair((), "", concedes=("promise few is relaxed",))))  # fmt: skip
