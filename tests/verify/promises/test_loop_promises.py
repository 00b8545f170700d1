"""Findings of promises over loops: verdict, words, numbers and places, of runs known by hand."""

from __future__ import annotations

import pytest

from coherence.findings.finding import Finding, Grade, Severity, Verdict
from coherence.findings.question_input import Question
from coherence.language.expressions import parse
from coherence.language.reading import read_text
from coherence.verify.promises.loop_promises import answer, driven, place_of
from coherence.verify.promises.threshold_repairs import lowered
from tests.verify.promises.plants import relay, subject_of

QUESTION = Question("COH999", "promise")


def finding(text: str) -> Finding:
    subject = subject_of(text)
    return answer(QUESTION, subject, subject.model.promises["p"])


@pytest.mark.parametrize(
    ("promise", "message"),
    [
        # x is 0, 4, 6, 4, 6, ... and v 0, 4, 4, 1, 4, 1, ...
        ("always x <= 8", "holds in every run"),
        ("eventually x >= 6", "holds in every run"),
        ("eventually_always x >= 4", "holds in every run"),
        ("never x >= 7", "holds in every run, with no margin: a limit is approached and never reached"),
    ],
)
def test_a_promise_that_holds_is_proved(promise: str, message: str) -> None:
    proved = finding(relay(promise))
    assert proved.verdict is Verdict.PROVED
    assert proved.message == f"{promise}: {message}"
    assert proved.severity is (Severity.WARNING if "no margin" in message else Severity.INFO)
    assert proved.of == ("p", "act")
    assert proved.evidence.certificate is not None


@pytest.mark.parametrize(
    ("promise", "message", "last"),
    [
        ("never x < 4", "broken after 0 s", "plant.x = 0"),  # at its first sample, and not on its lap
        ("always x < 6", "broken after 1 s, and again every 2 s for ever", "plant.x = 6"),
        ("never x >= 6", "broken after 1 s, and again every 2 s for ever", "plant.x = 6"),
        ("always job.v > 20", "broken after 0 s, and again every 2 s for ever", "job.v = 0"),
        ("never job.v >= 4 and x >= 6", "broken after 1 s", "job.v = 4, plant.x = 6"),
        ("eventually x > 8", "broken after 3 s, and again every 2 s for ever", "plant.x = 6"),
        ("eventually_always x >= 5", "broken after 3 s, and again every 2 s for ever", "plant.x = 6"),
    ],
)
def test_a_promise_that_a_run_breaks_is_a_conflict_with_its_cycle(promise: str, message: str, last: str) -> None:
    conflict = finding(relay(promise))
    assert (conflict.verdict, conflict.certainty) == (Verdict.CONFLICT, "certain")
    assert conflict.message.startswith(f"{promise}: {message}")
    told = conflict.evidence.witness[-1]
    assert set(told.text.removeprefix(f"{promise} is broken: ").split(", ")) == set(last.split(", "))
    assert conflict.evidence.replayed
    numbers = {name: value for name, (value, _) in conflict.evidence.numbers.items()}
    assert numbers == {
        "period": 2, "contraction per lap": 0, "plant.x lowest": 4, "plant.x highest": 6,
        "job.v lowest": 1, "job.v highest": 4,
    }  # fmt: skip


@pytest.mark.slow
def test_a_run_that_rests_has_no_cycle() -> None:
    conflict = finding(relay("always x < 8", low="4"))  # x comes to 8 and never reaches it; v is 4 for ever
    assert conflict.verdict is Verdict.PROVED
    still = finding(relay("always x < 4", high="2", low="2"))  # 0, 2, 3, 3.5, ... below 4
    assert still.verdict is Verdict.PROVED
    reached = finding(relay("always x < 2", high="2", low="2"))
    assert reached.message == "always x < 2: broken after 0 s"
    assert reached.evidence.numbers == {}


@pytest.mark.slow
def test_some_starts_that_break_a_promise_are_possible_and_not_certain() -> None:
    some = finding(relay("always x <= 9", start="0 .. 10"))
    assert (some.verdict, some.certainty) == (Verdict.CONFLICT, "possible")
    assert finding(relay("always x <= 9", start="9.5 .. 10")).certainty == "certain"


# what an undecided promise says by ranges alone: a formula that the encoding refuses
PRODUCT = """coherence: 1
components: {{plant: {{state: "x' = x * x / 100 + job.v", step: 1 s, from: 0 .. 1}}, limit: {{top: {top}}}}}
loops:
  act:
    timescale: {{period: 1 s, phase: 0 s}}
    trigger: x > 5
    actuation: {{signal: job.v, law: step, by: "x / 3", bounds: [0, 10], from: 0 .. 2}}
promises: {{p: "{promise}"}}
"""


@pytest.mark.parametrize(
    ("promise", "top", "verdict", "words"),
    [
        ("always job.v <= limit.top", "12 .. 15", Verdict.PROVED, "(job.v 0 to 10, limit.top 12 to 15)"),
        ("never job.v > limit.top", "12 .. 15", Verdict.PROVED, "holds in every state within the bounds"),
        ("eventually job.v <= 10", "12", Verdict.PROVED, "(job.v 0 to 10)"),
    ],
)
def test_what_is_written_stays_within_its_bounds(promise: str, top: str, verdict: Verdict, words: str) -> None:
    told = finding(PRODUCT.format(promise=promise, top=top))
    assert told.verdict is verdict
    assert told.evidence.certificate is not None
    assert promise in told.message
    assert words in told.message or told.evidence.method != "exact arithmetic"


def test_a_promise_over_loops_is_told_from_one_over_events() -> None:
    moved = subject_of(relay("always x <= 8"))
    assert driven(moved, moved.model.promises["p"])
    constant = subject_of(relay("always other.v <= 8").replace("promises", "  other: {v: 3}\npromises").replace(
        "components: {plant", "components: {other: {v: 3}, plant").replace("  other: {v: 3}\n", ""))  # fmt: skip
    assert not driven(constant, constant.model.promises["p"])
    outside = subject_of(relay("always x <= meter.reading"))
    assert not driven(outside, outside.model.promises["p"])


@pytest.mark.parametrize(
    ("loop", "label", "shown"),
    [
        ("trigger: {enter: p.x > 3, leave: p.x < 1}, actuation: {}", "a acts from here", "p.x > 3"),
        ("trigger: p.x > 3, actuation: {signal: s.v, law: step, by: 1}", "a acts while this holds", "p.x > 3"),
        (
            "rules: [{when: p.x > 3, by: 1}, {when: p.x > 2, by: 1}, {when: p.x > 4, by: 1}], actuation: {signal: s.v}",
            "a rule of a",
            "p.x > 4",
        ),
        ("target: {signal: p.x, setpoint: 3}, actuation: {signal: s.v, law: proportional}", "a reads this", "p.x"),
        ("trigger: always, actuation: {signal: s.v, law: step, by: 1}", "the loop a", "a:"),
    ],
)
def test_a_loop_is_shown_where_it_says_when_it_acts(loop: str, label: str, shown: str) -> None:
    text = f"coherence: 1\ncomponents: {{p: {{x: 1 .. 5}}}}\nloops:\n  a: {{{loop}}}\n"
    place = place_of(read_text(text).loops["a"])
    assert place.label == label
    line = text.split("\n")[place.line - 1]
    assert line[place.column - 1 :].lstrip('"').startswith(shown)


# -- repairs: at 80 the pipe is full; 20 arrive before the next look
FILL = """coherence: 1
components: {{pipe: {{state: "level' = 0.5 * level + feed.v", step: 1 s, from: 0}}}}
loops:
  stop:
    rank: 1
    timescale: {{period: 1 s, phase: 0 s}}
    trigger: {{enter: level >= 90, leave: level <= 10}}
    actuation: {{}}
  fill:
    rank: 2
    timescale: {{period: 1 s, phase: 0 s}}
    rules: [{{when: stop, to: 0}}, {{when: level < {threshold}, to: 50}}, {{when: level >= 0, to: 0}}]
    actuation: {{signal: feed.v, bounds: [0, 50], from: 0}}
promises: {{p: never level >= 85}}
"""


@pytest.mark.slow
def test_a_threshold_is_lowered_until_the_promise_is_proved() -> None:
    # fed below t with 50: 0, 50, 75, 87.5; what is fed at level l becomes l / 2 + 50, below 85 where l < 70
    subject = subject_of(FILL.format(threshold=80))
    promise = subject.model.promises["p"]
    assert answer(QUESTION, subject, promise).verdict is Verdict.CONFLICT
    found = [edit for repair in lowered(subject, promise, ("fill",)) for edit in repair.edits]
    assert [(edit.old, edit.new) for edit in found] == [("80", "64")]  # 0.95, 0.9 and so on of 80: 76, 72, 64


def test_without_the_text_no_threshold_is_moved() -> None:
    subject = subject_of(FILL.format(threshold=80))
    bare = type(subject)(subject.design)
    assert list(lowered(bare, subject.model.promises["p"], ("fill",))) == []


def test_evidence_of_a_conflict_is_an_exact_run() -> None:
    conflict = finding(relay("always x < 6"))
    assert conflict.evidence.grade is Grade.PROVED
    assert [step.text for step in conflict.evidence.witness if step.text.startswith("act")] == [
        "act raises job.v 0 -> 4"
    ]
    assert parse("x < 6") is not None
