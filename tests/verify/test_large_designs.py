"""Large designs: what is computed cleverly equals what is computed plainly, and an edit asks little again."""

from __future__ import annotations

import itertools
import random
import re
import time
from collections.abc import Mapping
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bench._verify_scale import chain, large
from coherence.base.errors import InputError
from coherence.checking.design_check import Options, analysis, reanalyse
from coherence.checking.rereading import reread
from coherence.findings.accounting import account, policies, things_of_all
from coherence.findings.design_answers import Answers
from coherence.findings.finding import Accounting, Evidence, Finding, Grade, Severity, Verdict
from coherence.language.design import Design
from coherence.language.expressions import names as names_in
from coherence.language.names import component_formulas
from coherence.language.reading import read_text
from coherence.model.independent_parts import parts
from tests.draws import few

FILE = "design.yaml"
QUICK = Options(verify_repairs=False)
RANKS = [Verdict.PROVED, Verdict.NOTE, Verdict.VACUOUS, Verdict.UNDECIDED, Verdict.CONFLICT]
NUMBER = re.compile(r"\b(\d+)( s| ms| min| %|)")


def rebuild(sources: Mapping[str, str]) -> Design:
    return read_text(sources[FILE], FILE)


def plain_account(design: Design, findings: list[Finding]) -> Accounting:
    """Every pair, one after another."""
    known = policies(design)
    verdicts: dict[frozenset[str], Verdict] = {}
    for finding in findings:
        for pair in itertools.combinations(sorted(set(finding.of) & set(known)), 2):
            key = frozenset(pair)
            verdicts[key] = max(verdicts.get(key, finding.verdict), finding.verdict, key=RANKS.index)
    counts = dict.fromkeys(("conflict", "safe", "undecided", "not_modelled", "unrelated"), 0)
    for one, other in itertools.combinations(known, 2):
        verdict = verdicts.get(frozenset((one, other)))
        if verdict is None:
            counts["not_modelled" if related(design, one, other) or related(design, other, one) else "unrelated"] += 1
        elif verdict is Verdict.VACUOUS:
            counts["undecided"] += 1
        elif verdict is Verdict.NOTE:
            counts["not_modelled"] += 1
        else:
            counts["safe" if verdict is Verdict.PROVED else str(verdict)] += 1
    calls = len(known) - len(design.loops) - len(design.timers) - len(design.limits)
    sections = {"loops": len(design.loops), "timers": len(design.timers), "limits": len(design.limits)}
    answered = any(finding.verdict is not Verdict.NOTE for finding in findings)
    return Accounting(
        **sections, calls=calls, promises=len(design.promises), **counts, designs=1, unanswered=int(not answered)
    )


def related(design: Design, one: str, other: str) -> bool:
    """Does one policy use a thing that the other one uses, or on which such a thing depends?"""
    behind = set(things_of_all(design).get(other, ()))
    while True:
        callees = {c.callee.text for c in design.calls if c.caller and c.callee and c.caller.text in behind}
        formulas = (f for name in behind & set(design.components) for f in component_formulas(design.components[name]))
        more = callees | {name.split(".")[0] for formula in formulas for name in names_in(formula.tree)}
        if more <= behind:
            return not behind.isdisjoint(things_of_all(design).get(one, ()))
        behind |= more


@pytest.mark.slow
@settings(max_examples=few(25), deadline=None)
@given(st.randoms(use_true_random=False), st.sampled_from((10, 20, 50)))
def test_pairs_are_counted_as_one_by_one(draw: random.Random, size: int) -> None:
    design = read_text(large(size, seed=draw.randint(0, 99)))
    names = [*policies(design), "nothing"]
    found = [
        Finding(
            "COH200", "x", draw.choice(RANKS), Severity.INFO, "", (),
            tuple(draw.choice(names) for _ in range(draw.randint(0, 5))), Evidence(Grade.PROVED, ""),
        )
        for _ in range(draw.randint(0, 40))
    ]  # fmt: skip
    counted = account(design, found)
    assert replace(counted, promises_conflict=0, promises_proved=0, promises_undecided=0) == plain_account(
        design, found
    )


def test_policies_of_one_name_are_counted_each() -> None:
    design = read_text(
        "coherence: 1\nloops: {x: {actuation: {signal: a.b}}, y: {actuation: {signal: a.b}}}\n"
        "timers: {x: {from: a starts, after: 3 s}, z: {from: q starts, after: 3 s}}\n"
    )
    found = [Finding("C", "c", Verdict.CONFLICT, Severity.INFO, "", (), ("x", "y"), Evidence(Grade.PROVED, ""))]
    assert account(design, found) == plain_account(design, found)


@pytest.mark.slow
def test_pieces_answer_as_the_whole() -> None:
    text = large(180, seed=2)
    sources = {FILE: text}
    whole = analysis(read_text(text, FILE), sources, rebuild, options=QUICK, cut=False)
    cut = analysis(read_text(text, FILE), sources, rebuild, options=QUICK)
    assert len(whole.pieces) == 1 < len(cut.pieces)
    assert cut.answers == whole.answers
    assert any(f.verdict is Verdict.CONFLICT for f in cut.answers.findings)


@pytest.mark.slow
def test_pieces_repair_as_the_whole() -> None:
    text = "".join(
        (
            "coherence: 1\ncomponents:\n",
            *(f"  {n}: {{takes: {{load: 3 min .. 10 min}}}}\n" for n in ("server", "other")),
            "timers:\n",
            *(
                f"  {n}_probe: {{from: {n} starts, first: 120 s, every: 10 s, misses: 3, unless: {n}.load ends,"
                f" then: restart {n}}}\n"
                for n in ("server", "other")
            ),
        )
    )
    whole = analysis(read_text(text, FILE), {FILE: text}, rebuild, cut=False)
    cut = analysis(read_text(text, FILE), {FILE: text}, rebuild)
    assert len(cut.pieces) == 2
    assert cut.answers == whole.answers
    assert all(f.repairs for f in cut.answers.findings if f.verdict is Verdict.CONFLICT)


def edited(text: str, draw: random.Random) -> str:
    """One number of a line is another, or a line has another letter."""
    lines = text.split("\n")
    at = draw.choice([n for n, line in enumerate(lines) if n and line])
    if draw.random() < 0.8 and (found := list(NUMBER.finditer(lines[at]))):
        one = draw.choice(found)
        lines[at] = f"{lines[at][: one.start(1)]}{draw.choice((0, 1, 7, 45))}{lines[at][one.end(1) :]}"
    else:
        column = draw.randrange(len(lines[at]))
        lines[at] = lines[at][:column] + draw.choice("x{}:,'\"#&*- ") + lines[at][column + 1 :]
    return "\n".join(lines)


def told(text: str) -> object:
    try:
        return read_text(text, FILE)
    except InputError as error:
        return {str(problem) for problem in error.problems}


@pytest.mark.slow
@settings(max_examples=few(40), deadline=None)
@given(st.randoms(use_true_random=False))
def test_an_edit_read_alone_gives_the_same_design(draw: random.Random) -> None:
    text = large(20, seed=draw.randint(0, 9))
    before = read_text(text, FILE)
    after = edited(text, draw)
    wanted = told(after)
    try:
        found: object = reread(before, after)
    except InputError as error:
        found = {str(problem) for problem in error.problems}
    assert found == wanted
    assert repr(found) == repr(wanted) or not isinstance(wanted, Design)
    if isinstance(found, Design) and isinstance(wanted, Design):
        assert (found.text, found.comments) == (wanted.text, wanted.comments)


def assert_same_answers(answers: Answers, text: str) -> None:
    """Compares with the answers from nothing: equal in pieces; in one piece a question may read more than it needs."""
    pieces, whole = (
        analysis(read_text(text, FILE), {FILE: text}, rebuild, options=QUICK, cut=cut).answers for cut in (True, False)
    )
    assert answers == pieces
    assert replace(answers, not_read=()) == replace(whole, not_read=())
    assert set(whole.not_read) <= set(answers.not_read)


@pytest.mark.slow
@settings(max_examples=5, deadline=None)
@given(st.randoms(use_true_random=False))
def test_an_edit_asked_alone_gives_the_same_answers(draw: random.Random) -> None:
    text = large(100, seed=draw.randint(0, 3)).replace("s1", "t1")  # two neighbourhoods of one and nine services
    before = analysis(read_text(text, FILE), {FILE: text}, rebuild, options=QUICK)
    after = edited(text, draw)
    try:
        design = reread(read_text(text, FILE), after)
    except InputError:
        return
    again = reanalyse(before, design, {FILE: after}, rebuild)
    assert_same_answers(again.answers, after)


def with_another_thing(text: str, draw: random.Random) -> str:
    """One mention of a neighbourhood, in a line of an entry, is of another."""
    lines = text.split("\n")
    mention = re.compile(r"(?<=[ (])s(\d)(?=[_. ,}])(?!\w*:)")
    at = draw.choice([n for n, line in enumerate(lines) if mention.search(line)])
    one = draw.choice(list(mention.finditer(lines[at])))
    lines[at] = f"{lines[at][: one.start(1)]}{draw.randrange(6)}{lines[at][one.end(1) :]}"
    return "\n".join(lines)


@pytest.mark.slow
@settings(max_examples=few(40), deadline=None)
@given(st.randoms(use_true_random=False))
def test_pairs_after_an_edit_are_counted_as_of_the_whole_text(draw: random.Random) -> None:
    text = large(60, seed=draw.randint(0, 9))
    before = read_text(text, FILE)
    account(before, [])
    after = draw.choice((edited, with_another_thing))(text, draw)
    try:
        design = reread(before, after)
    except InputError:
        return
    whole = read_text(after, FILE)
    assert account(design, []) == account(whole, [])
    assert things_of_all(design) == things_of_all(whole)


@pytest.mark.slow
def test_lines_put_in_give_the_same_answers_as_from_nothing() -> None:
    text = large(120)
    before = analysis(read_text(text, FILE), {FILE: text}, rebuild, options=QUICK)
    after = text.replace("  s3_hpa:\n", "  # the first\n\n  s3_hpa:\n")
    again = reanalyse(before, reread(before.design, after), {FILE: after}, rebuild)
    assert_same_answers(again.answers, after)


@pytest.mark.slow
def test_an_edit_asks_one_piece_again() -> None:
    text = large(400)
    sources = {FILE: text}
    design = read_text(text, FILE)
    before = analysis(design, sources, rebuild, options=QUICK)
    after = text.replace(
        "s20_lease: {from: s20_work.task starts, after: ", "s20_lease: {from: s20_work.task starts, after: 1"
    )
    assert after != text
    again = reanalyse(before, reread(design, after), {FILE: after}, rebuild)
    assert len(again.pieces) > 1
    assert sum(known is not before.pieces.get(names) for names, known in again.pieces.items()) == 1


@pytest.mark.slow
def test_a_deep_chain_is_no_exponent() -> None:
    start = time.process_time()
    text = chain(200)
    found = analysis(read_text(text, FILE), {FILE: text}, rebuild).answers.findings
    assert time.process_time() - start < 5
    assert {f.verdict for f in found if f.code == "COH201"} == {Verdict.PROVED}


def test_things_join_by_what_they_name() -> None:
    text = """
coherence: 1
components: {a: {takes: {x: 1 s}}, b: {takes: {x: 1 s}}, c: {takes: {x: 1 s}}}
timers:
  one: {from: a.x starts, after: 3 s, then: alarm}
  two: {from: alarm, after: 3 s, then: stop b}
  three: {from: c.x starts, after: 3 s, then: note}
  four: {from: step hangs, after: 3 s}
  five: {from: step hangs, after: 4 s}
"""
    groups = [{unit.name for unit in group} for group in parts(read_text(text))]
    assert groups == [{"a", "b", "one", "two"}, {"c", "three"}, {"four", "five"}]


def test_an_entry_that_names_an_anchor_elsewhere_is_asked_again() -> None:
    text = (
        "coherence: 1\ncomponents:\n  a: {takes: {load: &long 3 min}}\n  b: {takes: {load: *long}}\ntimers:\n"
        "  one: {from: a starts, after: 4 min, unless: a.load ends, then: restart a}\n"
        "  two: {from: b starts, after: 4 min, unless: b.load ends, then: restart b}\n"
    )
    before = analysis(read_text(text, FILE), {FILE: text}, rebuild)
    after = text.replace("3 min", "9 min")
    again = reanalyse(before, read_text(after, FILE), {FILE: after}, rebuild)
    assert again.answers == analysis(read_text(after, FILE), {FILE: after}, rebuild, cut=False).answers
    assert again.answers != before.answers


@pytest.mark.slow
@settings(max_examples=4, deadline=None)
@given(st.randoms(use_true_random=False))
def test_what_is_kept_with_an_entry_is_repaired_as_from_nothing(draw: random.Random) -> None:
    text = large(20, seed=draw.randint(0, 9))
    design = read_text(text, FILE)
    known = analysis(design, {FILE: text}, rebuild)
    for _ in range(2):
        after = edited(text, draw)
        try:
            other = reread(design, after)
        except InputError:
            continue
        known = reanalyse(known, other, {FILE: after}, rebuild)
        assert known.answers == analysis(read_text(after, FILE), {FILE: after}, rebuild).answers
        text, design = after, other
