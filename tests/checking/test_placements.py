"""Loops that do not say on which side of a boundary they run."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from coherence.base.places import Place
from coherence.checking.placements import MOST_SIDES, on_every_side
from coherence.checking.weighing import ask_weighed
from coherence.findings.finding import Edit, Evidence, Finding, Grade, Repair, Severity, Verdict
from coherence.findings.question_input import Subject
from coherence.findings.registry import question_modules
from coherence.language.reading import read_text

MODULES = [m for m in question_modules() if any(q.code in ("COH301", "COH220") for q in m.questions)]


def design(walls: str, inside: str = "", promise: str = "always pool.desired <= 60") -> str:
    return f"""coherence: 1
infrastructure: {{boundaries: {{{walls}}}}}
components: {{pool: {{desired: 0.5 .. 400, load: 20, util: load / desired}}}}
loops:
  hpa:
    {inside}
    target: {{signal: pool.util, setpoint: 50 %}}
    timescale: {{period: 15 s, phase: 0 s}}
    actuation: {{signal: pool.desired, from: 20, bounds: [1, 400.5]}}
promises: {{few: "{promise}"}}
"""


def asked(text: str) -> dict[str, Finding]:
    return {f.code: f for f in ask_weighed(Subject(read_text(text, "d"), {"d": text}), MODULES)}


@pytest.mark.parametrize("delay", ["1 s", "14 s", "15 s", "20 s", "40 s"])
def test_an_answer_stands_where_all_sides_give_it(delay: str) -> None:
    wall = f"vm: {{around: [pool], reading_delay: {delay}}}"
    sides = [asked(design(wall, f"inside: {side}")) for side in ("none", "vm")]
    unsaid = asked(design(wall))
    for code, finding in unsaid.items():
        verdicts = {side[code].verdict for side in sides}
        assert finding.verdict is (verdicts.pop() if len(verdicts) == 1 else Verdict.UNDECIDED)
        if finding.verdict is Verdict.UNDECIDED:
            assert finding.message.startswith("needs `inside` of hpa")
        else:
            assert "wherever hpa runs: on each side of the boundaries" in finding.assumptions


def test_a_proof_on_all_sides_has_the_certificate_of_each() -> None:
    wall = "vm: {around: [pool], reading_delay: 14 s}"
    script = asked(design(wall))["COH301"].evidence.certificate
    assert script is not None
    assert script.count("(reset)") == sum(
        (asked(design(wall, f"inside: {side}"))["COH301"].evidence.certificate or "").count("(reset)")
        for side in ("none", "vm")
    ) + 1  # fmt: skip


def test_a_conflict_on_all_sides_stands() -> None:
    wall = "vm: {around: [pool], reading_delay: 20 s}"
    finding = asked(design(wall, promise="always pool.desired <= 30"))["COH220"]
    assert (finding.verdict, finding.certainty) == (Verdict.CONFLICT, "certain")


def counted(subject: Subject, seen: list[Subject]) -> Iterator[Finding]:
    seen.append(subject)
    yield from ()


def test_only_what_acts_on_the_way_is_asked_about_on_its_sides_and_no_more_than_a_few() -> None:
    def sides(walls: str) -> int:
        seen: list[Subject] = []
        list(on_every_side(lambda subject: counted(subject, seen), Subject(read_text(design(walls), "d"))))
        return len(seen)

    assert sides("vm: {around: [pool], capacity_fraction: 50 %}") == 1
    assert sides("vm: {around: [pool], added_delay: 0 s}") == 1
    assert sides("vm: {around: [pool], added_delay: 1 s}") == 2
    assert sides("vm: {around: [pool], added_delay: 1 s}, zone: {around: [vm], reading_delay: 1 s}") == 3
    many = ", ".join(f"w{n}: {{around: [pool], added_delay: {n + 1} s}}" for n in range(MOST_SIDES))
    assert sides(many) == 1


HERE = Place("d", 1, 1, 1, 2)


def told(verdict: Verdict, message: str, certainty: str = "", *repairs: Repair) -> Finding:
    severity = Severity.ERROR if certainty == "certain" else Severity.WARNING
    evidence = Evidence(Grade.PROVED, "said", certificate=f"; {message}")
    return Finding(
        "COH999", "said", verdict, severity, message, (HERE,), ("hpa",), evidence, certainty, repairs=repairs
    )


def both(outside: Finding | None, inside: Finding | None) -> list[Finding]:
    """Asks a question that answers so where the loop runs outside of the boundary, and so inside."""
    subject = Subject(read_text(design("vm: {around: [pool], added_delay: 1 s}"), "d"))

    def ask(placed: Subject) -> Iterator[Finding]:
        side = outside if placed.design.loops["hpa"].inside[0].text == "none" else inside
        yield from [side] if side else []

    return list(on_every_side(ask, subject))


def test_what_is_proved_on_each_side_is_said_of_that_side() -> None:
    (proof,) = both(told(Verdict.PROVED, "at most 30"), told(Verdict.PROVED, "at most 20"))
    assert proof.message == "at most 30 (hpa runs outside of all boundaries); at most 20 (hpa runs inside vm)"
    assert proof.evidence.certificate == "; at most 30(reset)\n; at most 20"


def test_a_conflict_is_as_sure_as_on_all_sides_and_has_the_repairs_that_each_side_proves() -> None:
    here, there = ((Edit(HERE, "1", new),) for new in "23")
    outside = told(Verdict.CONFLICT, "c", "certain", Repair(here, "v", proved=True), Repair(there, "v", proved=True))
    (sure,) = both(outside, told(Verdict.CONFLICT, "c", "certain", Repair(here, "v", proved=True)))
    assert (sure.certainty, [(r.edits, r.proved) for r in sure.repairs]) == ("certain", [(here, True)])
    (unsure,) = both(outside, told(Verdict.CONFLICT, "c", "possible", Repair(here, "v")))
    assert (unsure.certainty, unsure.severity) == ("possible", Severity.WARNING)
    assert [(r.edits, r.proved) for r in unsure.repairs] == [(here, False)]


def test_a_fact_of_one_side_is_told_with_that_side() -> None:
    (note,) = both(None, told(Verdict.NOTE, "n"))
    assert (note.verdict, note.assumptions) == (Verdict.NOTE, ("hpa runs inside vm",))
    (open_,) = both(None, told(Verdict.CONFLICT, "c", "certain"))
    assert open_.verdict is Verdict.UNDECIDED
