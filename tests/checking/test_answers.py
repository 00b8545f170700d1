"""Findings are carried over to an edited design where their modules read nothing that was edited."""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from dataclasses import replace

import pytest

from coherence.base.watchdog import current_run, run_limit
from coherence.checking.answers import MOST_ANSWERS, ask_all, ask_once, carry_over, changed_fields
from coherence.checking.rereading import reread
from coherence.findings.finding import Evidence, Finding, Grade, Verdict
from coherence.findings.question_input import Question, Subject, repairs_unasked
from coherence.findings.registry import QuestionModule, question_modules
from coherence.language.expressions.evaluate import NotExactError
from coherence.language.reading import read_text
from coherence.model.elaborate import model_of
from coherence.verify.calls.call_graph import call_tree
from coherence.verify.systems.cases import NotLinearError

TEXT = """coherence: 1
timers:
  t: {from: a starts, after: 3 s}
limits:
  l: {counts: a.b, at_most: 3}
"""
QUESTION = Question("COH999", "tried")


def module(*sections: str) -> tuple[QuestionModule, list[Subject]]:
    """A question module that reads some sections, and whom it was asked about."""
    seen: list[Subject] = []

    def ask(subject: Subject) -> Iterable[Finding]:
        seen.append(subject)
        sizes = [len(getattr(subject.design, section)) for section in sections]
        yield QUESTION.undecided(f"{sizes}", (), ())

    return QuestionModule("tried", (QUESTION,), ask, ""), seen


def test_only_the_section_of_the_edited_entry_differs() -> None:
    before = read_text(TEXT)
    assert changed_fields(before, reread(before, TEXT.replace("3 s", "4 s"))) == {"timers", "text"}
    assert changed_fields(before, before.replace()) == frozenset()


def test_a_design_read_anew_differs_in_every_section_with_entries() -> None:
    assert {"timers", "limits"} <= changed_fields(read_text(TEXT), read_text(TEXT))


def test_what_read_another_section_is_not_asked_again() -> None:
    before = read_text(TEXT)
    after = reread(before, TEXT.replace("3 s", "4 s"))
    limits, seen = module("limits")
    answer = ask_once(Subject(before), limits)
    carry_over(before, after)
    assert ask_once(Subject(after), limits) is answer
    assert len(seen) == 1


def test_what_is_looked_at_for_every_answer_has_no_module_asked_again() -> None:
    text = f"{TEXT}loops:\n  o: {{trigger: c.d > 3, actuation: {{signal: e.f, to: 1}}}}\n"
    before = read_text(text)
    after = reread(before, text.replace("> 3", "> 4"))
    limits, seen = module("limits")

    def proves(subject: Subject) -> Iterable[Finding]:
        for finding in limits.ask(subject):
            yield replace(finding, verdict=Verdict.PROVED)

    proving = replace(limits, ask=proves)
    answer = ask_once(Subject(before), proving)
    carry_over(before, after)
    assert changed_fields(before, after) == {"loops", "text"}
    assert ask_once(Subject(after), proving) == answer
    assert len(seen) == 1


def test_what_read_the_edited_section_is_asked_again() -> None:
    before = read_text(TEXT)
    after = reread(before, TEXT.replace("3 s", "4 s"))
    both, seen = module("limits", "timers")
    ask_once(Subject(before), both)
    carry_over(before, after)
    ask_once(Subject(after), both)
    assert [subject.design for subject in seen] == [before, after]


LOOPS_AND_CALLS = """coherence: 1
loops:
  l: {timescale: {period: 10 s}, trigger: x.a < 5, actuation: {signal: x.b, by: 1, bounds: [0, 9]}}
calls:
  - {from: a, to: b, deadline: 2 s}
limits:
  m: {counts: a.ongoing, at_most: 3}
timers: {t: {from: e, after: 3 h, then: page x}}
"""


def test_the_model_and_the_calls_stand_where_an_edit_changes_nothing_that_they_are_made_of() -> None:
    before = read_text(LOOPS_AND_CALLS)
    model, tree = model_of(before), call_tree(before)
    edits = (("3 h", "4 h"), ("2 s", "3 s"), ("by: 1", "by: 2"), ("at_most: 3", "at_most: 4"))
    edited = [reread(before, LOOPS_AND_CALLS.replace(*words)) for words in edits]
    for after in edited:
        carry_over(before, after)
    assert [call_tree(after) is tree for after in edited] == [True, False, True, True]
    assert [model_of(after).loops is model.loops for after in edited] == [True, True, False, False]  # a limit is an end
    assert all(model_of(after).design is after for after in edited)


def test_a_question_without_time_left_is_undecided() -> None:
    (finding,) = ask_all(Subject(read_text(TEXT), {}, 0.0), [module()[0]])
    assert (finding.verdict, finding.message) == (
        Verdict.UNDECIDED,
        "not decided: the time limit of this question is over",
    )


def test_a_question_that_cannot_be_carried_out_is_undecided_with_what_it_said_before() -> None:
    def ask(subject: Subject) -> Iterable[Finding]:
        yield QUESTION.undecided("first", (), subject.design.timers)
        raise NotExactError("no")

    findings = ask_all(Subject(read_text(TEXT)), [QuestionModule("tried", (QUESTION,), ask, "")])
    assert [finding.message for finding in findings] == ["first", "not decided: no"]


def test_of_millions_of_answers_some_thousands_are_given_and_the_rest_is_undecided() -> None:
    def ask(_subject: Subject) -> Iterable[Finding]:
        return (QUESTION.proved(f"{number}", (), (), Evidence(Grade.PROVED, "")) for number in itertools.count())

    *given, last = ask_all(Subject(read_text(TEXT)), [QuestionModule("tried", (QUESTION,), ask, "")])
    assert [finding.message for finding in given] == [str(number) for number in range(MOST_ANSWERS)]
    assert last.verdict is Verdict.UNDECIDED
    assert f"{MOST_ANSWERS} answers are given, and no more" in last.message


def test_a_module_ends_with_its_run_between_two_answers() -> None:
    def ask(_subject: Subject) -> Iterable[Finding]:
        yield QUESTION.undecided("first", (), ())
        current_run().end = 0.0
        yield QUESTION.undecided("late", (), ())

    with run_limit(60):
        given = ask_all(Subject(read_text(TEXT)), [QuestionModule("tried", (QUESTION,), ask, "")])
    assert [finding.message for finding in given] == [
        "first", "not decided: the time limit of the whole run is over",
    ]  # fmt: skip


IN_ANY_ORDER = """coherence: 1
timers:
  readiness: {from: server slow, every: 10 s, misses: 3, then: unlist server}
  liveness:  {from: server slow, every: 10 s, misses: 3, then: restart server}
promises: {gentle_first: readiness before liveness}
"""


def test_a_design_that_was_asked_without_repairs_has_them_when_they_are_asked_for() -> None:
    subject = Subject(read_text(IN_ANY_ORDER, "d.yaml"), {"d.yaml": IN_ANY_ORDER})
    order = next(each for each in question_modules() if each.name.endswith("timer_order"))
    with repairs_unasked():
        (without,) = ask_once(subject, order).findings
        assert not without.repairs
    (conflict,) = ask_once(subject, order).findings
    assert conflict.repairs
    assert replace(conflict, repairs=()) == without
    with repairs_unasked():
        assert ask_once(subject, order).findings == (conflict,)  # what is known stands


def test_an_engine_that_cannot_carry_it_out_leaves_a_question_undecided_and_a_fault_is_none() -> None:
    def asking(error: Exception) -> QuestionModule:
        def ask(_: Subject) -> Iterable[Finding]:
            raise error

        return QuestionModule("tried", (QUESTION,), ask, "")

    (finding,) = ask_all(Subject(read_text(TEXT), {}), [asking(NotLinearError("splits into too many cases"))])
    assert finding.verdict is Verdict.UNDECIDED
    assert "splits into too many cases" in finding.message
    with pytest.raises(ZeroDivisionError):
        ask_all(Subject(read_text(TEXT), {}), [asking(ZeroDivisionError())])
