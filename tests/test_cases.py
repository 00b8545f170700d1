"""Runs every Markdown case: its findings are exactly those that its marks state."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pytest

from coherence.base.errors import InternalError
from coherence.base.places import Place
from coherence.checking.repair import blame, rechecks
from coherence.findings.finding import Evidence, Finding, Grade, Severity, Verdict
from coherence.findings.question_input import Question
from coherence.findings.registry import question_modules
from tests.case_files import CASES, Case, cases, differences, files_of, findings_of, marks

ALL = [case for case in cases(CASES) if not case.signals]


@pytest.mark.parametrize(
    "case", [pytest.param(case, id=case.name, marks=[pytest.mark.slow] * case.slow) for case in ALL]
)
def test_case(case: Case, monkeypatch: pytest.MonkeyPatch) -> None:
    """What questions propose as repairs is made and not tried: that costs no more than a tenth of a check."""
    monkeypatch.setattr(blame, "blamed", lambda context, **_: context.findings)
    monkeypatch.setattr(rechecks, "with_repairs", lambda context, **_: context.findings)
    told = differences(case, findings_of(case.text, manifests=case.manifests))
    assert not told, "\n".join(["", case.name, *told])


IN_CONFLICT = [case for case in ALL if not case.slow and any(mark.verdict == "conflict" for mark in case.expected)]
EVERY = 20  # one case in so many has its repairs searched for in each run
OF_EACH = 6  # cases in conflict by a code whose repairs are searched for with the slow tests


def searched() -> set[str]:
    """Returns the names of cases: one in so many, the first of each code, and of each set of codes side by side.

    What questions propose is made in all cases (above).  The search after it tries edits and asks again: it adds places
    and repairs to findings and nothing else, so that it can go wrong by how it ends, which depends on the questions
    that are asked again and on what is in conflict beside what it mends.
    """
    chosen, counts = {case.name for case in IN_CONFLICT[::EVERY]}, Counter[frozenset[str]]()
    for case in IN_CONFLICT:
        codes = frozenset(mark.code for mark in case.expected if mark.verdict == "conflict")
        kinds = {codes, *(frozenset({code}) for code in codes)}
        if not counts[codes] or any(counts[kind] < OF_EACH for kind in kinds if len(kind) == 1):
            chosen.add(case.name)
        counts.update(kinds)
    return chosen


SEARCHED = searched()


@pytest.mark.parametrize(
    "case",
    [
        pytest.param(case, id=case.name, marks=[pytest.mark.slow] * (n % EVERY > 0))
        for n, case in enumerate(IN_CONFLICT)
        if case.name in SEARCHED
    ],
)
def test_the_same_is_found_where_repairs_are_searched_for(case: Case) -> None:
    told = differences(case, findings_of(case.text, manifests=case.manifests))
    assert not told, "\n".join(["", case.name, *told])


QUESTIONS = [question for module in question_modules() for question in module.questions]
SHOWN = [question for question in QUESTIONS if question.fires is not None]
PAGES = {question.code: module.name for module in question_modules() for question in module.questions}


@pytest.mark.parametrize("question", SHOWN, ids=lambda question: question.code)
def test_beside_the_page_of_every_question_stand_a_case_that_fires_one_that_is_silent_and_a_proof(
    question: Question,
) -> None:
    page = PAGES[question.code].removeprefix("coherence.").replace(".", "/")
    own = [{m.verdict for m in c.expected if m.code == question.code} for c in ALL if c.name.startswith(f"{page}.md:")]
    assert any(question.fires in verdicts for verdicts in own)
    assert any(not verdicts for verdicts in own)
    assert any(Verdict.PROVED in verdicts for verdicts in own) is question.proves


@pytest.mark.parametrize("question", SHOWN, ids=lambda question: question.code)
def test_every_question_has_a_case_that_fires_one_that_does_not_and_a_proof(question: Question) -> None:
    own = [case for case in ALL if question.code in {mark.code for mark in case.expected}]
    verdicts = {mark.verdict for case in own for mark in case.expected if mark.code == question.code}
    assert question.fires in verdicts
    assert (Verdict.PROVED in verdicts) is question.proves
    files = {case.name.partition(":")[0] for case in own}
    beside = [case for case in ALL if case.name.partition(":")[0] in files]
    quiet = {Verdict.PROVED}
    assert any({m.verdict for m in case.expected if m.code == question.code} <= quiet for case in beside)


def test_only_a_disagreement_of_engines_has_no_case_that_fires_and_stands_in_cases_where_they_agree() -> None:
    assert [question.code for question in QUESTIONS if question.fires is None] == ["COH107"]
    agreeing = [case for case in ALL if case.file == "engine_disagreement.md"]
    assert len(agreeing) > 1
    assert not any("COH107" in case.spoken for case in agreeing)


def test_a_question_that_proves_nothing_cannot_answer_a_proof() -> None:
    with pytest.raises(InternalError, match="COH999 proves nothing"):
        Question("COH999", "x", proves=False).proved("m", (), (), Evidence(Grade.PROVED, ""))


def found(line: int, code: str = "COH201", verdict: Verdict = Verdict.CONFLICT) -> Finding:
    place = Place("case.yaml", line, 1, line, 5)
    return Finding(code, "x", verdict, Severity.INFO, "a message", (place,), (), Evidence(Grade.PROVED, ""))


def case_of(text: str) -> Case:
    stated = marks(text)
    spoken = frozenset(mark.code for mark in stated)
    return Case("a.md:1", "a.md", text, stated, silent=not stated, slow=False, spoken=spoken)


ONE = case_of("coherence: 1\na: 1  # COH201 conflict\nb: 2\n")


def test_a_case_accepts_exactly_what_it_states() -> None:
    assert not differences(ONE, [found(2)])


def test_a_case_names_what_is_missing() -> None:
    assert differences(ONE, []) == ["missing: line 2 COH201 conflict x1"]


@pytest.mark.parametrize("extra", [found(3), found(2), found(3, "COH204", Verdict.PROVED)])
def test_a_finding_that_no_mark_states_fails_the_case(extra: Finding) -> None:
    line, verdict = extra.places[0].line, extra.verdict
    assert differences(ONE, [found(2), extra]) == [
        f"unexpected: line {line} {extra.code} {verdict} x1", *["    a message"] * (2 if line == 2 else 1),
    ]  # fmt: skip


def test_a_finding_on_another_line_is_both_missing_and_unexpected() -> None:
    told = differences(ONE, [found(3)])
    assert [line.partition(" ")[0] for line in told if not line.startswith(" ")] == ["missing:", "unexpected:"]


def test_a_mark_has_a_number() -> None:
    twice = case_of("a: 1  # COH201 conflict x2, COH204 proved\n")
    assert not differences(twice, [found(1), found(1), found(1, "COH204", Verdict.PROVED)])
    assert differences(twice, [found(1), found(1, "COH204", Verdict.PROVED)])


def test_a_mark_may_state_the_certainty() -> None:
    certain, possible = replace(found(1), certainty="certain"), replace(found(1), certainty="possible")
    assert not differences(case_of("a: 1  # COH201 conflict\n"), [certain])
    assert not differences(case_of("a: 1  # COH201 conflict certain\n"), [certain])
    assert not differences(case_of("a: 1  # COH201 conflict certain, COH201 conflict\n"), [possible, certain])
    assert differences(case_of("a: 1  # COH201 conflict certain\n"), [possible]) == [
        "missing: line 1 COH201 conflict certain x1",
        "unexpected: line 1 COH201 conflict possible x1", "    a message",
    ]  # fmt: skip


def test_notes_count_where_the_case_speaks_of_their_code() -> None:
    note = found(2, "COH701", Verdict.NOTE)
    silent = case_of("coherence: 1\n")
    assert not differences(silent, [note])
    assert differences(silent._replace(spoken=frozenset({"COH701"})), [note])
    assert differences(case_of("a: 1\nb: 2  # COH701 note\n"), [note, note])


def test_what_stands_in_no_line_is_marked_at_the_first() -> None:
    elsewhere = replace(found(9), places=(Place("models/part.yaml", 9, 1, 9, 5),))
    assert not differences(case_of("a: 1  # COH201 conflict\n"), [elsewhere])


@pytest.mark.parametrize("line", ["a: 1  # COH201", "a: 1  # COH201 broken", "a: 1  # COH201 conflict # COH204 proved"])
def test_a_mark_that_cannot_be_read_is_an_error(line: str) -> None:
    with pytest.raises(ValueError, match=r"write marks as|is not a valid Verdict"):
        marks(line)


def test_files_of_a_case_keep_its_line_numbers() -> None:
    named = files_of("a: 1\n=== nginx.conf\nevents {}\n=== web.yaml\nb: 2\n")
    assert {name: text.strip() for name, text in named.items()} == {
        "case.yaml": "a: 1", "nginx.conf": "events {}", "web.yaml": "b: 2"
    }  # fmt: skip
    assert [text.count("\n") for text in named.values()] == [1, 3, 5]
    assert list(files_of("=== nginx.conf\nevents {}\n")) == ["nginx.conf"]
