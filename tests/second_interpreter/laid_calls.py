"""Lays the times and verdicts of call graphs beside all their runs: a contradiction is a line of text."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from fractions import Fraction
from random import Random

from coherence.findings.finding import Finding, Verdict
from coherence.findings.question_input import Subject
from coherence.language.reading import read_text
from coherence.verify.calls.call_graph import CallTree, call_tree
from tests.second_interpreter.calls import CallGraph, DrawnCall, call_graph
from tests.second_interpreter.laid import MODULES

Bounds = tuple[Fraction, Fraction | None]


def calls_contradicted(seeds: range, counts: Counter[str]) -> Iterator[str]:
    """Yields one line for each time or verdict that the list of all runs contradicts."""
    for seed in seeds:
        random = Random(f"calls {seed}")  # noqa: S311  (the same designs in every run)
        drawn = call_graph(random)
        text = drawn.text()
        subject = Subject(read_text(text, "case.yaml"), {"case.yaml": text})
        lines = [
            *_times(drawn, call_tree(subject.design), counts),
            *_verdicts(drawn, subject, counts),
            *_answers_in_time(drawn, random, counts),
        ]
        yield from (f"calls {seed}: {line}\n{text}" for line in lines)


def _times(drawn: CallGraph, tree: CallTree, counts: Counter[str]) -> Iterator[str]:
    """Yields intervals that are no enclosure, and those that could be tighter where everything is said."""
    for name, work in tree.work.items():
        if name not in drawn.own:
            continue
        answer, time = drawn.answers(name), work.answer
        plain = _all_said(drawn, name)
        if not (time.least <= min(answer) and time.most <= max(answer) and _within(max(answer), time.bound)):
            yield f"{name} answers within {_shown(answer)}, not {time.least} {time.most} {time.bound}"
        if plain and not (time.least == min(answer) and time.most == time.bound == max(answer)):
            yield f"{name} answers exactly within {_shown(answer)}, not {time.least} {time.most} {time.bound}"
        counts[f"answers {'exact' if plain else 'enclosed'}"] += 1
        for hang, (known, longest) in {
            True: (work.known, work.longest), False: (work.behind.low, work.behind.high),
        }.items():  # fmt: skip
            ends = drawn.ends(name, hang=hang)
            if not (known <= max(ends) and _within(max(ends), longest)):
                yield f"{name} ends within {_shown(ends)} (hang: {hang}), not {known} {longest}"
            if not _own_and_calls(drawn, name) and longest is not None and not known == longest == max(ends):
                yield f"{name} ends exactly within {_shown(ends)} (hang: {hang}), not {known} {longest}"
            counts["ends"] += 1


def _answers_in_time(drawn: CallGraph, random: Random, counts: Counter[str]) -> Iterator[str]:
    """Yields verdicts on a promise that a thing answers in time, its calls included, that some run contradicts."""
    for name in (name for name, own in drawn.own.items() if own is not None and drawn.of(name)):
        ends = drawn.ends(name, hang=False) | drawn.answers(name)
        within = max(Fraction(1), max(ends) + random.choice([-9, -4, -1, 0, 20]))
        text = f"{drawn.text()}promises: {{p: after {name}.serve starts then {name}.serve ends within {within} s}}\n"
        late = max(ends) > within
        for finding in MODULES["COH243"].ask(Subject(read_text(text, "case.yaml"), {"case.yaml": text})):
            counts[f"{finding.code} {finding.verdict} {'breaks' if late else 'holds'}"] += 1
            if finding.verdict in (Verdict.PROVED, Verdict.CONFLICT) and _wrong(finding, breaks=late):
                yield f"{name} ends within {_shown(ends)}, but {finding.verdict}: {finding.message}"
            if finding.certainty == "certain" and min(drawn.answers(name)) <= within:
                yield f"{name} may answer within {_shown(drawn.answers(name))}: {finding.message}"


def _shown(times: frozenset[Fraction]) -> str:
    return f"{min(times)} .. {max(times)}"


def _within(value: Fraction, bound: Fraction | None) -> bool:
    return bound is None or value <= bound


def _reached(drawn: CallGraph, name: str) -> set[str]:
    return {name}.union(*(_reached(drawn, call.callee) for call in drawn.of(name)))


def _own_and_calls(drawn: CallGraph, name: str) -> bool:
    return any(drawn.own[x] is not None and drawn.of(x) for x in _reached(drawn, name))


def _all_said(drawn: CallGraph, name: str) -> bool:
    """Decides whether nothing is left open: no own time beside calls, no order, no fallback."""
    reached = _reached(drawn, name)
    fallback = any(call.fallback_for for x in reached for call in drawn.of(x))
    silent = any(drawn.own[x] is None and not drawn.of(x) for x in reached)
    said = all(_in_order(drawn.of(x)) for x in reached) and not _own_and_calls(drawn, name)
    return said and not fallback and not silent


def _in_order(calls: list[DrawnCall]) -> bool:
    cases = {case for call in calls for case in call.cases} or {""}
    each = [sum(not call.cases or case in call.cases for call in calls) for case in cases]
    return any(call.stage for call in calls) or max(each, default=0) <= 1


def _verdicts(drawn: CallGraph, subject: Subject, counts: Counter[str]) -> Iterator[str]:
    """Yields verdicts on calls with a limit that some run contradicts, or that every run does."""
    findings = [finding for code in ("COH201", "COH204") for finding in MODULES[code].ask(subject)]
    for call in drawn.calls:
        if call.limit is None:
            continue
        limit, name = Fraction(call.limit), f"{call.caller} -> {call.callee}"
        answer, first = drawn.answers(call.callee), drawn.own[call.callee]
        inner = any(_limited(drawn, call.callee))
        hanging, left = max(drawn.ends(call.callee, hang=True)), drawn.left_behind(call, touches=inner)
        for finding in (f for f in findings if f.of[0] == name):
            breaks = None
            if finding.code == "COH204":
                breaks = left
            elif "to answer" in finding.message or "it may need" in finding.message:
                breaks = max(answer) > limit
                if finding.certainty == "certain" and min(answer) <= limit and first is not None:
                    yield f"{name} is certain, but {min(answer)} <= {limit}: {finding.message}"
            elif "one after another" in finding.message or "ends before" in finding.message:
                breaks = hanging >= limit
            if breaks is not None:
                counts[f"{finding.code} {finding.verdict} {'breaks' if breaks else 'holds'}"] += 1
                if finding.verdict in (Verdict.PROVED, Verdict.CONFLICT) and _wrong(finding, breaks=breaks):
                    yield f"{name} {'breaks' if breaks else 'holds'}, but {finding.verdict}: {finding.message}"


def _wrong(finding: Finding, *, breaks: bool) -> bool:
    return breaks is (finding.verdict is Verdict.PROVED)


def _limited(drawn: CallGraph, name: str) -> Iterator[bool]:
    """Yields whether each call of a thing has a limit, those behind calls without one included."""
    for call in drawn.of(name):
        yield call.limit is not None
        if call.limit is None:
            yield from _limited(drawn, call.callee)
