"""What changed, in words: counts, names up to a number, and nothing that an input could forge."""

from __future__ import annotations

from dataclasses import replace

from coherence.base.places import Place
from coherence.findings.finding import (
    Accounting,
    ChangedPolicy,
    Evidence,
    Finding,
    GoneFinding,
    Grade,
    Report,
    Severity,
    Since,
    Verdict,
)
from coherence.reporting._since import is_touched, since_json, since_lines, touched_place

AT = Place("a.yaml", 3, 1, 3, 9)
POLICIES = tuple(ChangedPolicy("added", "loops", f"l{n}", AT) for n in range(8))
SINCE = Since("main", "0123456789abcdef", False, {"a.yaml": frozenset({3})})


def report(since: Since | None) -> Report:
    return Report((), Accounting(), (), since=since)


def test_nothing_is_said_where_no_earlier_state_is_looked_at() -> None:
    assert since_lines(report(None)) == []
    assert is_touched(AT, report(None))


def test_policies_are_named_up_to_six_of_each_kind() -> None:
    changed = (*POLICIES, ChangedPolicy("removed", "order", "", AT))
    since = replace(SINCE, policies=changed, known=2, gone=(GoneFinding("COH201", "conflict", ("a", "b"), 2),))
    first, second = since_lines(report(since))
    assert first == (
        "Since main (0123456789ab): 1 file differs; "
        "added loops.l0, loops.l1, loops.l2, loops.l3, loops.l4, loops.l5 and 2 more; removed order."
    )
    assert second == "Findings: 2 known before, 0 new, 2 gone (COH201 of a, b)."
    assert len(since_json(since)["policies"]) == 9


def test_the_commit_at_which_a_branch_left_is_named_so() -> None:
    (line, _) = since_lines(report(replace(SINCE, left=True, files={})))
    assert line == "Since main (0123456789ab, where this branch left main): 0 files differ."


def test_names_from_outside_stay_on_their_line() -> None:
    policy = ChangedPolicy("added", "loops", "x\n::error::forged\x1b[31m", AT)
    lines = since_lines(report(replace(SINCE, ref="a\nb", policies=(policy,), unread="one\ntwo")))
    assert len(lines) == 2
    assert not any("\n" in line or "\x1b" in line for line in lines)


def test_a_finding_is_shown_at_its_changed_line_then_in_a_changed_file() -> None:
    other, near, changed = Place("b.yaml", 1, 1, 1, 2), Place("a.yaml", 9, 1, 9, 2), Place("a.yaml", 2, 1, 4, 2)
    evidence = Evidence(Grade.PROVED, "z3")

    def shown(*places: Place) -> Place | None:
        finding = Finding("COH201", "slug", Verdict.CONFLICT, Severity.ERROR, "m", places, ("a",), evidence)
        return touched_place(finding, report(SINCE))

    assert shown(other, near, changed) == changed
    assert shown(other, near) == near
    assert shown(other) == other
    assert shown() is None
