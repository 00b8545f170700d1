"""What a question costs is said by the question, not by where its module stands."""

from __future__ import annotations

from dataclasses import replace

import pytest

from coherence.base.solver import unsat
from coherence.checking.answers import absences
from coherence.checking.design_check import analyse
from coherence.checking.repair import blame, rechecks
from coherence.checking.repair.rechecks import proves, slow
from coherence.exploring.fixing import fix
from coherence.findings.finding import Evidence, Finding, Grade, Severity, Verdict
from coherence.findings.question_input import Subject, repairs_are_asked
from coherence.findings.registry import question_modules
from coherence.language.reading import read_text


def test_questions_that_execute_loops_are_slow() -> None:
    found = {question.code for module in question_modules() if slow(module) for question in module.questions}
    assert found == {
        "COH107",
        "COH220",
        "COH224",
        "COH301",
        "COH302",
        "COH303",
        "COH304",
        "COH305",
        "COH306",
        "COH307",
        "COH308",
        "COH502",
        "COH504",
        "COH505",
    }


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


def test_a_promise_that_is_proved_to_be_kept_by_another_policy_is_no_longer_broken() -> None:
    assert proves(CONFLICT, [answer(Verdict.PROVED, "a", "c")], promises=["a"])
    assert not proves(CONFLICT, [answer(Verdict.PROVED, "b", "c")], promises=["a"])
    assert not proves(CONFLICT, [answer(Verdict.PROVED, "a", "c"), answer(Verdict.UNDECIDED, "a")], promises=["a"])
    beside = answer(Verdict.PROVED, "a", "c")
    assert not proves(CONFLICT, [beside], [CONFLICT, beside], ["a"])


def test_a_simulation_or_an_open_answer_beside_a_proof_disproves_nothing() -> None:
    assert not proves(CONFLICT, [answer(Verdict.PROVED, "a", "b", grade=Grade.SIMULATED)])
    assert not proves(CONFLICT, [answer(Verdict.PROVED, "a", "b"), answer(Verdict.UNDECIDED, "a", "b")])


def repaired(text: str) -> list[Finding]:
    answers = analyse(read_text(text, "d"), {"d": text}, lambda sources: read_text(sources["d"], "d"))
    return [f for f in answers.findings if f.verdict is Verdict.CONFLICT]


def test_of_an_edited_design_no_repairs_are_searched(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[bool] = []

    def noted(context: rechecks.RecheckContext, *, thorough: bool) -> list[Finding]:
        del thorough
        asked.append(repairs_are_asked())
        return list(context.findings)

    monkeypatch.setattr(blame, "blamed", noted)
    monkeypatch.setattr(rechecks, "with_repairs", noted)
    repaired("coherence: 1\ncalls:\n  - {from: a, to: b, deadline: 10 s, per_try: 4 s, tries: 8}\n")
    assert asked == [False, False]
    assert repairs_are_asked()


@pytest.mark.slow
def test_a_change_after_which_the_question_is_silent_is_a_candidate() -> None:
    found = repaired(
        "coherence: 1\ncomponents: {node: {cpu: 8}, app: {asked: 15, usage: app.asked / (node.n * node.cpu)}}\nloops:\n"
        "  down: {timescale: {period: 10 min}, trigger: app.usage < 50 %,"
        " actuation: {signal: node.n, law: step, by: -3, bounds: [1, 10], from: 4}}\n"
        "  up: {timescale: {period: 10 s}, trigger: app.usage > 100 %,"
        " actuation: {signal: node.n, law: step, by: 3, bounds: [1, 10], from: 4}}\n"
    )
    (livelock,) = (finding for finding in found if finding.code == "COH232")
    assert {(repair.proved, repair.verified) for repair in livelock.repairs} == {
        (False, "re-checked: no conflict is found, and not proved")
    }


def test_a_threshold_within_what_is_read_is_proved_to_be_reached() -> None:
    (dead,) = repaired(
        "coherence: 1\nlimits: {buffer: {counts: gate.backlog, at_most: 200 req, when_full: reject}}\n"
        "loops: {scale: {trigger: gate.backlog > 500 req, actuation: {signal: web.desired, law: step, by: 1}}}\n"
    )
    assert dead.code == "COH213"
    assert {(repair.proved, repair.verified) for repair in dead.repairs} == {(True, "re-checked: proved")}


def test_a_freeze_that_allows_one_is_proved_to_be_none() -> None:
    (dead,) = repaired(
        'coherence: 1\nlimits: {budget: {counts: nodes.disrupted, at_most: 0, during: "0 0 * * * for 24 h"}}\n'
        "loops: {consolidate: {trigger: nodes.underused, actuation: {signal: nodes.disrupted, law: step, by: 1}}}\n"
    )
    assert [(repair.edits[0].new, repair.proved) for repair in dead.repairs] == [("1", True)]


def test_a_repair_that_leaves_a_call_its_tries_comes_first_and_one_layer_that_retries_is_enough() -> None:
    (product,) = repaired(
        "coherence: 1\ncalls: [{from: a, to: b, tries: 2}, {from: b, to: c, tries: 3}]\n"
        "promises: {few: attempts(c) per call(a) <= 4}\n"
    )
    assert [repair.edits[0].new for repair in product.repairs] == ["2", "1"]


def test_what_is_taken_from_a_policy_is_a_candidate_where_nothing_else_helps() -> None:
    (product,) = repaired(
        "coherence: 1\ncalls: [{from: a, to: b, tries: 2}]\npromises: {few: attempts(b) per call(a) <= 1}\n"
    )
    assert [(repair.edits[0].new, repair.proved) for repair in product.repairs] == [("1", False)]


SOLD_TWICE = """coherence: 1
components:
  gpus: {count: 16}
  chat: {work: 6, load: chat.work / (16 - batch.running)}
loops:
  share: {trigger: batch.queued > 0, actuation: {signal: batch.running, law: step, by: 1, bounds: [0, 15]}}
promises:
  tail: always chat.load <= 80 %
  floor: always batch.running >= 10
"""


@pytest.mark.slow
def test_a_relaxed_promise_is_marked_and_no_program_writes_it() -> None:
    (sold,) = repaired(SOLD_TWICE)
    first, second = (r for r in sold.repairs if r.proved)
    assert (first.edits[0].new, first.concedes) == ("8", ("promise floor is relaxed",))
    assert second.concedes == ("promise tail is relaxed",)
    assert not fix({"d": SOLD_TWICE}, lambda s: read_text(s["d"], "d"), lambda _, answers: answers).rounds


BLIND = """coherence: 1
components: {web: {load: 100, usage: load / desired}}
loops:
  hpa:
    timescale: {period: 15 s, hold_down: 1 min}
    target: {signal: "delayed(web.usage, 15 s)", setpoint: 0.5, tolerance: 10 %}
    actuation: {signal: web.desired, law: proportional, bounds: [1, 1000], from: 120}
"""


PIECES = """coherence: 1
components:
  node: {copies: 3, memory: 64 GiB}
  web: {copies: 10 .. 39, needs: {memory: 5 GiB}, runs_on: node}
"""
HELD = """coherence: 1
components: {gpu: {count: 16}, llm: {copies: 2 .. 20, needs: 2 gpu}}
"""
WITHHELD = """coherence: 1
components: {hosts: {copies: 3, failing: 0 .. 2}}
limits: {outlier: {counts: hosts.ejected, at_most: 10 % of hosts.copies round up}}
loops:
  outlier_detection: {trigger: hosts.errors > 5, actuation: {signal: hosts.ejected, law: step, by: 1, bounds: [0, 3]}}
  health_check: {trigger: hosts.silent > 3, actuation: {signal: hosts.ejected, law: step, by: 1, bounds: [0, 3]}}
"""
LEASE = """coherence: 1
components: {worker: {returns: always, takes: {serve: 10 h}}}
timers: {lease: {from: worker starts, after: 90 s, renew: 2 min, then: restart worker}}
"""


def absent(text: str, code: str) -> list[Finding]:
    own = [module for module in question_modules() if module.questions[0].code == code]
    return absences(Subject(read_text(text, "d"), {"d": text}), own)


@pytest.mark.parametrize(
    ("code", "text", "old", "new"),
    [
        ("COH231", SOLD_TWICE, "batch.running >= 10", "batch.running >= 8"),
        ("COH211", HELD, "2 .. 20", "2 .. 8"),
        ("COH211", HELD, "count: 16", "count: 40"),
        ("COH211", PIECES, "10 .. 39", "10 .. 36"),
        ("COH218", LEASE, "after: 90 s", "after: 3 min"),
        ("COH240", WITHHELD, "10 %", "35 %"),
        ("COH304", BLIND, "hold_down: 1 min", "hold_down: 1 min, cooldown: 15 s"),
    ],
)
def test_a_silent_question_proves_of_the_repaired_design_alone_that_nothing_is_there(
    code: str, text: str, old: str, new: str
) -> None:
    assert old in text
    (proof,) = absent(text.replace(old, new), code)
    assert (proof.verdict, proof.evidence.grade) == (Verdict.PROVED, Grade.PROVED)
    assert proof.evidence.certificate is not None
    assert unsat(proof.evidence.certificate, timeout_ms=5_000).unsat
    assert not absent(text, code)


@pytest.mark.parametrize(
    ("code", "text"),
    [
        ("COH211", PIECES.replace("10 .. 39", "10 .. 37")),  # 185 GiB of 192, but twelve of 5 GiB fit in 64
        ("COH211", HELD.replace("2 .. 20", "2 .. 8").replace("2 gpu}", "2 gpu}, x: {copies: unknown, needs: 2 gpu}")),
        ("COH211", HELD.replace("2 .. 20", "2 .. 8").replace("16}", "8 .. 16}")),
        ("COH218", LEASE.replace("after: 90 s", "after: 90 s .. 3 min")),
        ("COH218", LEASE.replace("after: 90 s", "after: 2 min")),
        ("COH240", WITHHELD.replace("10 %", "35 %").replace("copies: 3", "copies: 2 .. 3").replace("35 %", "34 %")
            .replace("round up", "round down")),
    ],
)  # fmt: skip
def test_what_could_still_happen_is_not_said_to_be_absent(code: str, text: str) -> None:
    assert not absent(text, code)


def test_timers_that_end_with_one_event_are_raised_together_and_none_forestalls_the_other() -> None:
    text = """coherence: 1
components: {pod: {takes: {start: 5 s .. 10 min}}}
timers:
  short: {from: pod starts, after: 2 min, unless: pod.start ends, then: delete pod}
  long: {from: pod starts, after: 5 min, unless: pod.start ends, then: fail job}
"""
    found = repaired(text)
    assert [(one.code, [r.proved for r in one.repairs]) for one in found] == [("COH207", [True]), ("COH213", [True])]
    assert {edit.new for one in found for repair in one.repairs for edit in repair.edits} == {"14 min", "11 min"}


def test_whole_numbers_and_unknown_constants_are_no_state_that_keeps_all() -> None:
    assert not absent(SOLD_TWICE.replace(">= 10", ">= 8.2"), "COH231")
    assert not absent(SOLD_TWICE.replace(">= 10", ">= 8").replace("work: 6", "work: 6 .. 7"), "COH231")
