"""Questions about calls as a whole: against all runs of small designs, scaled and renamed, and on deep trees."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coherence.base import solver
from coherence.checking.design_check import analyse
from coherence.findings.finding import Finding, Verdict
from coherence.findings.question_input import Subject
from coherence.findings.registry import question_modules
from coherence.language.reading import read_text
from tests.draws import few
from tests.paths import ROOT

CODES = ("COH201", "COH202", "COH203", "COH204", "COH210", "COH218")
FILES = (
    "budget_containment", "calls", "orphaned_work", "retry_amplification",
    "retry_outlives_drain", "retry_window", "shutdown_vs_retry",
)  # fmt: skip
TESTS = ROOT / "tests"
FENCE = re.compile(r"^```yaml[^\n]*\n(.*?)^```", re.DOTALL | re.MULTILINE)
DESIGNS = [match[1] for name in FILES for match in FENCE.finditer(next(TESTS.rglob(f"{name}.md")).read_text())]


def asked(text: str) -> list[Finding]:
    """The answers of the questions about calls, repairs unchecked."""
    subject = Subject(read_text(text, "d.yaml"), {"d.yaml": text})
    return [f for module in question_modules() if module.questions[0].code in CODES for f in module.ask(subject)]


def verdicts(text: str) -> set[tuple[object, ...]]:
    return {(f.code, f.verdict, f.certainty, f.of, f.severity) for f in asked(text)}


def only(text: str, code: str) -> list[Finding]:
    return [f for f in asked(text) if f.code == code]


# --- every answer carries what is needed to check it


@pytest.mark.parametrize("text", DESIGNS, ids=range(len(DESIGNS)))
def test_answers_can_be_checked(text: str) -> None:
    for finding in asked(text):
        assert finding.places
        assert all(place.label for place in finding.places)
        if finding.verdict is Verdict.CONFLICT:
            assert len(set(finding.places)) >= 2
            assert finding.evidence.witness
            assert finding.evidence.numbers
        if finding.verdict is Verdict.PROVED:
            assert finding.evidence.certificate
            assert solver.unsat(finding.evidence.certificate, timeout_ms=5000).unsat, finding.message


@pytest.mark.parametrize("text", DESIGNS[::7], ids=range(len(DESIGNS[::7])))
def test_certificates_hold_for_another_solver(text: str) -> None:
    pytest.importorskip("cvc5")
    for finding in asked(text):
        if finding.evidence.certificate and finding.verdict in (Verdict.PROVED, Verdict.VACUOUS):
            assert solver.recheck(finding.evidence.certificate).unsat


@pytest.mark.slow
def test_most_conflicts_have_a_repair_that_holds() -> None:
    found = [f for text in DESIGNS for f in with_repairs(text) if f.verdict is Verdict.CONFLICT and f.code in CODES]
    repaired = [f for f in found if f.repairs]
    assert len(found) > 40
    assert len(repaired) >= 0.8 * len(found), [f.message for f in found if not f.repairs]
    assert all(repair.verified for f in repaired for repair in f.repairs)


def with_repairs(text: str) -> tuple[Finding, ...]:
    design = read_text(text, "d.yaml")
    return analyse(design, {"d.yaml": text}, lambda s: read_text(s["d.yaml"], "d.yaml"), select=CODES).findings


def test_the_repairs_of_a_missing_limit_and_of_a_drain() -> None:
    route = "coherence: 1\ncalls:\n  - {from: clients, to: svc, deadline: 2 s, tries: 4}\n"
    (finding,) = with_repairs(route)
    assert [(e.old, e.new) for e in finding.repairs[0].edits] == [("", ", per_try: 400 ms")]
    assert "slow answers" in finding.message
    assert "2 s" in finding.message
    assert "fast failures" in finding.message
    drain = (
        "coherence: 1\ncomponents: {serving: {drain: 60 s}}\n"
        "calls:\n  - {from: app, to: serving, tries: 4, per_try: 20 s, pause: 2 s}\n"
    )
    (finding,) = with_repairs(drain)
    edits = [[(e.old, e.new) for e in repair.edits] for repair in finding.repairs]
    assert edits[:2] == [[("60 s", "90 s")], [("20 s", "12 s")]]
    assert finding.evidence.numbers["tries go on for"] == (86, "s")


# --- against all runs

CAUSES = ("timeout", "refused", "reset")
ms = st.integers(0, 40).map(lambda n: 50 * n)


@dataclass(frozen=True)
class OneCall:
    """A call whose causes all have a known time; milliseconds."""

    deadline: int
    per_try: int | None
    tries: int
    pause: int
    jitter: str
    causes: tuple[str, ...]
    fails: tuple[tuple[str, int, int], ...]

    def yaml(self, *, scale: int = 1, name: str = "b") -> str:
        pause = f"{{base: {self.pause * scale} ms, cap: {2 * self.pause * scale} ms, factor: 2, jitter: {self.jitter}}}"
        keys = [f"deadline: {self.deadline * scale} ms", f"tries: {self.tries}", f"pause: {pause}"]
        keys += [f"per_try: {self.per_try * scale} ms"] if self.per_try is not None else []
        keys.append(f"retry_when: [{', '.join(self.causes)}]")
        fails = ", ".join(f"{cause}: {low * scale} ms .. {high * scale} ms" for cause, low, high in self.fails)
        keys += [f"fails: {{{fails}}}"] if fails else []
        return f"coherence: 1\ncalls:\n  - {{from: a, to: {name}, {', '.join(keys)}}}\n"

    @property
    def limit(self) -> int:
        return self.deadline if self.per_try is None else min(self.deadline, self.per_try)

    def runs(self) -> Iterator[list[tuple[int, int]]]:
        """(start, end) of the tries of every run, doubled: each try by any cause, everything at one of its ends.

        What takes longer than one try may is no failure that is seen, but a timeout.
        """
        takes = {min(end, self.limit) for _, low, high in self.fails for end in (low, high) if low <= self.limit}
        takes |= {self.limit} if "timeout" in self.causes else set()
        for each in itertools.product(sorted(takes), repeat=self.tries):
            for shortest in (True, False):
                now, rows = 0, []
                for k, spent in enumerate(each):
                    rows.append((now, now + 2 * spent))
                    now += 2 * spent + self._pause(k, shortest=shortest)
                yield rows

    def _pause(self, k: int, *, shortest: bool) -> int:
        whole = min(self.pause << k, 2 * self.pause)
        return 2 * whole if not shortest or self.jitter == "none" else 0 if self.jitter == "full" else whole


spans = st.tuples(ms, ms).map(lambda two: (min(two), max(two)))


@st.composite
def calls(draw: st.DrawFn) -> OneCall:
    causes = draw(st.lists(st.sampled_from(CAUSES), min_size=1, max_size=3, unique=True))
    per_try = draw(st.none() | st.integers(1, 40).map(lambda n: 50 * n))
    jitter = draw(st.sampled_from(["none", "full", "equal"]))
    fails = tuple((cause, *draw(spans)) for cause in causes if cause != "timeout")
    deadline, tries = draw(st.integers(1, 100)) * 50, draw(st.integers(1, 4))
    return OneCall(deadline, per_try, tries, draw(ms), jitter, tuple(causes), fails)


@given(calls())
@settings(max_examples=few(100), deadline=None)
def test_the_verdict_on_one_call_is_that_of_all_its_runs(call: OneCall) -> None:
    found = only(call.yaml(), "COH201")
    if call.tries == 1:
        pointless = call.per_try is not None and call.per_try > call.deadline
        assert [finding.verdict for finding in found] == [Verdict.NOTE] * pointless
        return
    kept = [all(end <= 2 * call.deadline for _, end in rows) for rows in call.runs()]
    (finding,) = found
    if not kept:  # no failure that is tried again comes before the try is given up
        assert (finding.verdict, finding.certainty) == (Verdict.CONFLICT, "certain")
        return
    assert finding.verdict is (Verdict.PROVED if all(kept) else Verdict.CONFLICT)
    if finding.verdict is Verdict.CONFLICT:
        assert (finding.certainty == "certain") == (not any(kept))


@given(calls(), st.sampled_from([2, 10, 60_000]))
@settings(max_examples=few(50), deadline=None)
def test_scaling_all_durations_keeps_verdicts(call: OneCall, scale: int) -> None:
    assert verdicts(call.yaml()) == verdicts(call.yaml(scale=scale))


@given(calls(), st.integers(1, 99))
@settings(max_examples=50, deadline=None)
def test_a_shorter_deadline_never_turns_a_conflict_into_a_proof(call: OneCall, percent: int) -> None:
    shorter = replace(call, deadline=max(1, call.deadline * percent // 100))
    before = {f.verdict for f in only(call.yaml(), "COH201")}
    after = {f.verdict for f in only(shorter.yaml(), "COH201")}
    if Verdict.CONFLICT in before:
        assert Verdict.PROVED not in after


@given(calls(), st.integers(1, 40))
@settings(max_examples=50, deadline=None)
def test_a_drain_is_outlived_exactly_where_a_run_is_longer(call: OneCall, drain: int) -> None:
    text = call.yaml() + f"components: {{b: {{drain: {drain * 250} ms}}}}\n"
    (finding,) = only(text, "COH203")
    ends = [min(rows[-1][0] + 2 * call.limit, 2 * call.deadline) for rows in call.runs()]  # the last try hangs
    longest = max(ends, default=2 * call.limit)  # where no try fails so that it is tried again, the first one hangs
    assert (finding.verdict is Verdict.CONFLICT) == (longest >= 2 * drain * 250)


@given(calls())
@settings(max_examples=30, deadline=None)
def test_renaming_keeps_verdicts(call: OneCall) -> None:
    one, other = verdicts(call.yaml()), verdicts(call.yaml(name="zeta"))
    assert {v[:3] for v in one} == {v[:3] for v in other}


# --- trees


def chain(layers: int, keys: str, extra: str = "") -> str:
    rows = "".join(f"  - {{from: s{k}, to: s{k + 1}, {keys.format(k=k, left=layers - k)}}}\n" for k in range(layers))
    return f"coherence: 1\ncalls:\n{rows}{extra}"


def test_two_hundred_layers_are_contained() -> None:
    keys = "deadline: {left} s, tries: 3, retry_when: [unavailable], fails: {{unavailable: 1 ms}}, on_timeout: abandon"
    found = asked(chain(200, keys))
    assert {f.verdict for f in found if f.code in ("COH201", "COH204")} == {Verdict.PROVED}
    assert len([f for f in found if f.code == "COH204"]) == 199


def test_one_layer_of_two_hundred_that_is_too_short_is_found() -> None:
    keys = "deadline: {left} s, on_timeout: abandon"
    text = chain(200, keys).replace("to: s100, deadline: 101 s", "to: s100, deadline: 60 s")
    (conflict,) = (f for f in asked(text) if f.verdict is Verdict.CONFLICT)
    assert conflict.code == "COH204"
    assert conflict.of[:2] == ("s99 -> s100", "s100")


def test_two_hundred_layers_multiply() -> None:
    (note,) = only(chain(200, "tries: 2"), "COH202")
    assert note.evidence.numbers["sends"] == (2**200, "")


@pytest.mark.slow
def test_a_long_chain_is_no_deep_recursion() -> None:
    assert only(chain(3000, "tries: 2"), "COH202")


def test_sixty_layers_of_two_calls_without_a_limit_are_no_two_to_the_sixty() -> None:
    rows = "".join(f"  - {{from: s{k}, to: s{k + 1}, tries: 2}}\n  - {{from: s{k}, to: s{k + 1}}}\n" for k in range(60))
    assert only(f"coherence: 1\ncalls:\n{rows}", "COH202")


def test_fifty_deadlines_each_at_most_half_of_the_one_around_it_are_vacuous() -> None:
    halves = "".join(
        f"  half_{k}: {{counts: s{k + 1}.deadline + 1 ms, at_most: 50 % of s{k}.deadline}}\n" for k in range(1, 50)
    )
    text = chain(50, "deadline: 0 s .. 1000 s", "limits:\n" + halves)
    (finding,) = only(text, "COH201")
    assert finding.verdict is Verdict.VACUOUS
    assert finding.evidence.certificate
    assert solver.unsat(finding.evidence.certificate, timeout_ms=5000).unsat


def test_without_the_slack_fifty_halves_are_possible() -> None:
    halves = "".join(
        f"  half_{k}: {{counts: s{k + 1}.deadline, at_most: 50 % of s{k}.deadline}}\n" for k in range(1, 50)
    )
    assert not only(chain(50, "deadline: 0 s .. 1000 s", "limits:\n" + halves), "COH201")


@pytest.mark.parametrize("size", [1, 2, 3, 50])
def test_cycles_get_an_answer(size: int) -> None:
    rows = "".join(f"  - {{from: s{k}, to: s{(k + 1) % size}, deadline: 5 s}}\n" for k in range(size))
    (finding,) = only(f"coherence: 1\ncalls:\n{rows}", "COH201")
    assert finding.verdict is Verdict.UNDECIDED
    assert "cycle" in finding.message


def test_a_design_without_calls_has_no_answer() -> None:
    assert not asked("coherence: 1\nsystem: nothing\n")


@pytest.mark.parametrize("pause", ["{base: 1 ms, factor: 1.0001}", "{base: 1 ms, cap: 10 s, factor: 1.00001}"])
def test_pauses_that_are_not_summed_are_asked_for(pause: str) -> None:
    text = (
        f"coherence: 1\ncalls:\n  - {{from: a, to: b, deadline: 9 h, per_try: 1 ms, tries: 100000, pause: {pause}}}\n"
    )
    (finding,) = only(text, "COH201")
    assert finding.verdict is Verdict.UNDECIDED
    assert "cap" in finding.message


SUMS = """coherence: 1
components: {a: {takes: {serve: 1 s}}, b: {takes: {serve: 1 s}}, c: {takes: {serve: 1 s}}}
calls:
  - {from: users, to: a, deadline: 20 s}
  - {from: a, to: relay, tries: 1}
  - {from: relay, to: b, deadline: 6 s, per_try: 2 s, tries: 2}
  - {from: a, to: c, deadline: 6 s, per_try: 2 s, tries: 2}
"""


def test_a_sum_is_about_every_call_that_it_adds_up() -> None:
    proofs = [f for f in only(SUMS, "COH201") if "users -> a" in f.of and f.verdict is Verdict.PROVED]
    calls = {"users -> a", "a -> relay", "relay -> b", "a -> c"}
    assert [calls - set(f.of) for f in proofs] == [set(), set()]


def test_a_call_into_a_cycle_is_part_of_what_the_cycle_leaves_undecided() -> None:
    text = """coherence: 1
calls: [{from: users, to: a, deadline: 9 s}, {from: a, to: b, deadline: 6 s}, {from: b, to: a, deadline: 5 s}]
"""
    assert [f.of for f in only(text, "COH201")] == [("a -> b", "b -> a", "users -> a")]


def test_tries_that_may_fail_at_once_are_told_of_by_what_takes_longest() -> None:
    inner = "{from: edge, to: app, per_try: 9 s, tries: 3, retry_when: [timeout, reset], fails: {reset: 0 s}}"
    text = f"coherence: 1\ncalls:\n  - {{from: clients, to: edge, deadline: 9 s}}\n  - {inner}\n"
    (late,) = (finding for finding in only(text, "COH201") if finding.of == ("clients -> edge", "edge -> app"))
    assert "may take 27 s on timeouts" in late.message
    assert "0 of them end in time" in late.message
    assert not any("reset" in step.text for step in late.evidence.witness)


def test_a_proof_names_the_activity_that_no_word_says_to_be_part_of_an_answer() -> None:
    text = (
        "coherence: 1\ncomponents: {m: {takes: {serve: 1 s .. 2 s, vacuum: 5 min, tidy: 3 s}}}\n"
        "calls: [{from: u, to: m, deadline: 10 s}]\n"
    )
    proof = next(f for f in asked(text) if f.code == "COH201" and f.verdict is Verdict.PROVED)
    named = [words for words in proof.assumptions if "no part of an answer" in words]
    assert [words.partition(" ")[0] for words in named] == ["vacuum"]  # tidy would fit as well


def test_a_longer_deadline_of_a_stream_is_proved_beside_its_first_byte() -> None:
    text = (
        "coherence: 1\ncomponents: {m: {takes: {ttft: 1 s, generate: 30 s .. 60 s}}}\n"
        "calls: [{from: n, to: m, per_try: 10 s, deadline: 50 s, timeout_kind: first byte}]\n"
    )
    design = read_text(text, "d.yaml")
    answers = analyse(design, {"d.yaml": text}, lambda sources: read_text(sources["d.yaml"], "d.yaml"))
    conflict = next(f for f in answers.findings if f.verdict is Verdict.CONFLICT)
    assert conflict.repairs
    assert all(repair.proved for repair in conflict.repairs)
