"""Holds the repairs that conflicts of the cases offer against what a repair must keep, by plain code of its own.

Each proved repair is written into the text, the text is read anew and asked as a whole.  The conflict is proved not to
happen, no conflict is new, and every objective stands: promises, setpoints, bounds and tiers are those of before or
narrower unless the repair says what it concedes, and no policy is gone or switched off.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

import pytest

from coherence.findings.finding import Edit, Finding, Repair, Verdict
from coherence.language.design import Design, Loop
from coherence.language.reading import read_text
from coherence.language.schema_kinds import Quantity
from tests.case_files import CASES, FILE, Case, cases, findings_of

FOLDERS = ("verify/patterns/calls", "verify/patterns/timers", "verify/patterns/writers", "verify/patterns/promises")
EVERY = 9  # one case in so many
DRAWN = [
    case
    for case in cases(CASES)
    if not case.signals and case.name.startswith(FOLDERS)
    and any(mark.verdict == "conflict" for mark in case.expected)
][::EVERY]  # fmt: skip


def written(text: str, edits: tuple[Edit, ...]) -> str:
    """Returns the text after edits, by counting lines and columns."""
    lines = text.split("\n")
    for edit in sorted(edits, key=lambda edit: (edit.place.line, edit.place.column), reverse=True):
        line, start = lines[edit.place.line - 1], edit.place.column - 1
        assert line[start:].startswith(edit.old)
        lines[edit.place.line - 1] = line[:start] + edit.new + line[start + len(edit.old) :]
    return "\n".join(lines)


def conflicts(findings: tuple[Finding, ...]) -> set[tuple[str, tuple[str, ...]]]:
    return {(f.code, f.of) for f in findings if f.verdict is Verdict.CONFLICT}


def lost(before: Design, after: Design, repair: Repair) -> Iterator[str]:
    """Yields what the design wanted before the repair, and does not want after it."""
    for section in ("loops", "timers", "limits", "jobs", "promises"):
        yield from (f"{section}.{name}" for name in set(getattr(before, section)) - set(getattr(after, section)))
    if len(before.calls) != len(after.calls):
        yield "calls"
    if not any("is relaxed" in words for words in repair.concedes):
        yield from (name for name, promise in before.promises.items() if after.promises[name].text != promise.text)
    for name, loop in before.loops.items():
        yield from (f"{name}.{what}" for what in _of_loop(loop, after.loops[name]))


def _of_loop(loop: Loop, edited: Loop) -> Iterator[str]:
    old, new = _ends(loop), _ends(edited)
    if old is not None and old[0] < old[1] and (new is None or not old[0] <= new[0] < new[1] <= old[1]):
        yield "bounds"
    steps = [rule.by for rule in edited.rules] + ([edited.actuation.by] if edited.actuation else [])
    if any(isinstance(step, Quantity) and step.low == 0 == step.high for step in steps):
        yield "by"


def _ends(loop: Loop) -> tuple[Fraction, Fraction] | None:
    bounds = loop.actuation.bounds if loop.actuation is not None else ()
    low, high = (bounds[0], bounds[-1]) if bounds else (None, None)
    return (low.low, high.high) if isinstance(low, Quantity) and isinstance(high, Quantity) else None


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
            assert not list(lost(read_text(text, FILE), read_text(after, FILE), repair))


def test_the_predicate_tells_what_is_lost() -> None:
    text = """coherence: 1
loops: {hpa: {trigger: web.load > 3, actuation: {signal: web.size, law: step, by: 1, bounds: [1, 9]}}}
promises: {few: always web.size <= 8}
"""
    plain = Repair((), "")
    for old, new, what in (
        ("<= 8", "<= 9", "few"), ("[1, 9]", "[1, 12]", "hpa.bounds"), ("[1, 9]", "[4, 4]", "hpa.bounds"),
        ("by: 1", "by: 0", "hpa.by"), ("hpa:", "vpa:", "loops.hpa"),
    ):  # fmt: skip
        changed = read_text(text.replace(old, new), FILE)
        if what == "loops.hpa":
            assert set(read_text(text, FILE).loops) - set(changed.loops) == {"hpa"}
        else:
            assert list(lost(read_text(text, FILE), changed, plain)) == [what]
    assert not list(lost(read_text(text, FILE), read_text(text.replace("<= 8", "<= 9"), FILE),
                         Repair((), "", concedes=("promise few is relaxed",))))  # fmt: skip
