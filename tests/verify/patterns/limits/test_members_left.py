"""What one event takes out of every member at once: proofs and repairs beside a plain count of the members left."""

from __future__ import annotations

import itertools

import pytest

from coherence.base.solver import unsat
from coherence.checking.design_check import analyse
from coherence.checking.weighing import absences_weighed
from coherence.findings.finding import Verdict
from coherence.findings.question_input import Subject
from coherence.findings.registry import question_modules
from coherence.findings.repairs import apply
from coherence.language.design import Design
from coherence.language.reading import read_text

TEXT = """coherence: 1
components: {{dns: {{copies: {copies}}}, backbone: {{takes: {{repair: 1 h .. 6 h}}}}}}
timers: {{withdraw: {{from: backbone.repair starts, after: 1 min, then: unlist dns, per: dns}}}}
promises: {{answers: always dns.listed >= {least}}}
"""
CAPS = ("", "{counts: dns.unlisted, at_most: 3}", "{counts: dns.ready, at_least: 2}")


def left(design: Design, copies: int) -> int:
    """Returns how many members a plain count leaves: all may go but what a cap or a floor keeps."""
    limit = next(iter(design.limits.values()), None)
    if limit is None:
        return 0
    most, least = limit.at_most, limit.at_least
    return max(0, copies - int(str(most))) if most is not None else min(copies, int(str(least)))


@pytest.mark.parametrize(("copies", "least", "cap"), [*itertools.product((1, 2, 5), (1, 2, 4), CAPS)])
def test_a_promise_is_proved_just_where_as_many_are_left_and_else_repaired_so(
    copies: int, least: int, cap: str
) -> None:
    text = TEXT.format(copies=copies, least=least) + (f"limits: {{keep: {cap}}}\n" if cap else "")
    design = read_text(text, "d")
    modules = [m for m in question_modules() if any(q.code == "COH240" for q in m.questions)]
    proofs = [f for f in absences_weighed(Subject(design, {"d": text}), modules) if "answers" in f.of]
    assert bool(proofs) == (left(design, copies) >= least)
    assert all(unsat(proof.evidence.certificate or "", timeout_ms=5_000).unsat for proof in proofs)
    answers = analyse(design, {"d": text}, lambda s: read_text(s["d"], "d"), select=["COH240"])
    conflicts = [f for f in answers.findings if f.verdict is Verdict.CONFLICT]
    assert bool(conflicts) == (left(design, copies) < min(copies, least))  # none goes where all are kept
    for repair in (r for f in conflicts for r in f.repairs if r.proved and not r.concedes):
        edited = apply(repair.edits, {"d": text})
        assert edited is not None
        assert left(read_text(edited["d"], "d"), copies) >= least
    if copies > least and conflicts:
        assert any(r.proved for f in conflicts for r in f.repairs)


def fewest(copies: int, caps: dict[str, int]) -> int:
    """Returns the fewest members listed in any order in which one event takes members out while caps let them go."""
    seen, ahead = set[frozenset[int]](), [frozenset(range(copies))]
    while ahead:
        listed = ahead.pop()
        if listed in seen:
            continue
        seen.add(listed)
        for member in listed:
            after = listed - {member}
            if all(
                copies - len(after) <= value if way == "at_most" else len(after) >= value for way, value in caps.items()
            ):
                ahead.append(after)
    return min(map(len, seen))


@pytest.mark.parametrize("event", ["poison.try starts", "poison fails"])
@pytest.mark.parametrize(
    ("copies", "least", "caps"),
    [*itertools.product((1, 2, 3, 5), (1, 2, 3), ({}, {"at_most": 2}, {"at_least": 2}, {"at_most": 2, "at_least": 2}))],
)
def test_answers_of_a_check_are_those_of_every_order(event: str, copies: int, least: int, caps: dict[str, int]) -> None:
    counted = {"at_most": "backend.removed", "at_least": "backend.listed"}
    limits = "".join(f"  {way}_so_many: {{counts: {counted[way]}, {way}: {value}}}\n" for way, value in caps.items())
    text = (
        f"coherence: 1\ncomponents: {{backend: {{copies: {copies}}}, poison: {{takes: {{try: 1 s}}}}}}\n"
        f"timers: {{max_fails: {{from: {event}, after: 0 s, per: backend, then: unlist backend}}}}\n"
        + (f"limits:\n{limits}" if caps else "")
        + f"promises: {{served: always backend.listed >= {least}}}\n"
    )
    answers = analyse(read_text(text, "d"), {"d": text}, lambda s: read_text(s["d"], "d"), select=["COH240"]).findings
    verdicts = {finding.verdict for finding in answers if "served" in finding.of}
    left_over = fewest(copies, caps)
    assert (Verdict.PROVED in verdicts) == (bool(caps) and left_over >= least)
    if left_over < min(copies, least):
        assert verdicts == {Verdict.CONFLICT}
    assert all(unsat(f.evidence.certificate, timeout_ms=5_000).unsat for f in answers if f.evidence.certificate)


BY_LOAD = """coherence: 1
components: {{api: {{copies: {copies}{failing}}}}}
timers: {{health: {{from: api {event}, after: 5 s, then: unlist api}}}}
{limits}promises: {{served: always api.listed >= {least}}}
"""


@pytest.mark.parametrize(("copies", "least", "kept"), [*itertools.product((1, 3, 6), (1, 3, 5), (0, 2, 5))])
def test_what_load_or_failures_take_out_one_by_one_is_counted(copies: int, least: int, kept: int) -> None:
    floor = f"limits: {{open: {{counts: api.listed, at_least: {kept}}}}}\n" if kept else ""
    by_load = BY_LOAD.format(copies=copies, failing="", event="overloaded", limits=floor, least=least)
    by_failures = BY_LOAD.format(copies=copies, failing=f", failing: {kept}", event="fails", limits="", least=least)
    for text, remaining in ((by_load, min(copies, kept)), (by_failures, max(0, copies - kept))):
        answers = analyse(read_text(text, "d"), {"d": text}, lambda s: read_text(s["d"], "d"), select=["COH240"])
        about = [f for f in answers.findings if "served" in f.of]
        assert [f.verdict for f in about if f.verdict is Verdict.PROVED] == [Verdict.PROVED] * (remaining >= least), (
            text
        )
