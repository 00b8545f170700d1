"""What a question costs is said by the question, not by where its module stands."""

from __future__ import annotations

from dataclasses import replace

from coherence.checking.design_check import analyse
from coherence.checking.repair.rechecks import proves, slow
from coherence.findings.finding import Evidence, Finding, Grade, Severity, Verdict
from coherence.findings.registry import question_modules
from coherence.language.reading import read_text


def test_questions_that_execute_loops_are_slow() -> None:
    found = {question.code for module in question_modules() if slow(module) for question in module.questions}
    assert found == {"COH220", "COH224", "COH301", "COH302", "COH303", "COH304", "COH305", "COH306", "COH307", "COH308"}


def test_a_module_is_slow_under_any_name() -> None:
    (module,) = (module for module in question_modules() if module.questions[0].code == "COH301")
    assert slow(replace(module, name="elsewhere"))
    assert not slow(replace(module, questions=tuple(replace(q, slow=False) for q in module.questions)))


CONFLICT = Finding(
    "C1", "", Verdict.CONFLICT, Severity.ERROR, "", (), ("a", "b"), Evidence(Grade.PROVED, ""), "certain"
)


def answer(verdict: Verdict, *of: str, grade: Grade = Grade.PROVED) -> Finding:
    return replace(CONFLICT, verdict=verdict, of=of, severity=Severity.INFO, evidence=Evidence(grade, ""), certainty="")


def test_only_a_proof_about_the_same_policies_disproves_a_conflict() -> None:
    assert proves(CONFLICT, [answer(Verdict.PROVED, "a", "b")])
    assert proves(CONFLICT, [answer(Verdict.PROVED, "b", "c", "a")])
    assert not proves(CONFLICT, [])
    beside = answer(Verdict.PROVED, "a", "b", "c")
    assert not proves(CONFLICT, [beside], [CONFLICT, beside])
    assert proves(CONFLICT, [beside, answer(Verdict.PROVED, "a", "b")], [CONFLICT, beside])
    assert not proves(CONFLICT, [answer(Verdict.PROVED, "a", "c")])
    assert not proves(CONFLICT, [replace(answer(Verdict.PROVED, "a", "b"), code="C2")])


def test_a_simulation_or_an_open_answer_beside_a_proof_disproves_nothing() -> None:
    assert not proves(CONFLICT, [answer(Verdict.PROVED, "a", "b", grade=Grade.SIMULATED)])
    assert not proves(CONFLICT, [answer(Verdict.PROVED, "a", "b"), answer(Verdict.UNDECIDED, "a", "b")])


def repaired(text: str) -> list[Finding]:
    answers = analyse(read_text(text, "d"), {"d": text}, lambda sources: read_text(sources["d"], "d"))
    return [f for f in answers.findings if f.verdict is Verdict.CONFLICT]


def test_a_change_after_which_the_question_is_silent_is_a_candidate() -> None:
    (dead,) = repaired(
        "coherence: 1\nlimits: {buffer: {counts: gate.backlog, at_most: 200 req, when_full: reject}}\n"
        "loops: {scale: {trigger: gate.backlog > 500 req, actuation: {signal: web.desired, law: step, by: 1}}}\n"
    )
    assert dead.code == "COH213"
    assert {(repair.proved, repair.verified) for repair in dead.repairs} == {
        (False, "re-checked: no conflict is found, and not proved")
    }


def test_a_freeze_that_allows_one_is_proved_to_be_none() -> None:
    (dead,) = repaired(
        'coherence: 1\nlimits: {budget: {counts: nodes.disrupted, at_most: 0, during: "0 0 * * * for 24 h"}}\n'
        "loops: {consolidate: {trigger: nodes.underused, actuation: {signal: nodes.disrupted, law: step, by: 1}}}\n"
    )
    assert [(repair.edits[0].new, repair.proved) for repair in dead.repairs] == [("1", True)]


def test_a_repair_that_leaves_a_call_its_tries_comes_first() -> None:
    (product,) = repaired(
        "coherence: 1\ncalls: [{from: a, to: b, tries: 2}, {from: b, to: c, tries: 3}]\n"
        "promises: {few: attempts(c) per call(a) <= 4}\n"
    )
    assert [repair.edits[0].new for repair in product.repairs] == ["2", "1"]
