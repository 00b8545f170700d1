"""Every engine is asked of generated loops: `check`, `analyze`, `sweep`, `simulate` say the same.

By hand, thousands: `python -m tests.loops.test_engines_agree FAMILY FIRST LAST [SECONDS]`, seconds for an engine.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Iterator
from fractions import Fraction
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coherence.base.errors import InputError
from coherence.checking.design_check import analyse
from coherence.exploring.sweep_referee import own_disagreements
from coherence.exploring.sweeps import verdict_of
from coherence.findings.finding import Finding, Grade, Verdict
from coherence.language.design import Design
from coherence.language.reading import read_text
from coherence.loops.analysis.design_analysis import analysed
from coherence.loops.analysis.second_opinions import is_nominal
from coherence.loops.designs.feedback_groups import Deadline
from coherence.loops.designs.group_runs import RunVerdict
from coherence.model.elaborate import elaborate
from coherence.simulate.study.samples import study
from coherence.simulate.study.setting import Setting
from tests.draws import few
from tests.loops import coupled_loops, single_loops

FILE = "d.yaml"
FAMILIES = (*single_loops.FAMILIES, *coupled_loops.FAMILIES)
CHECKED = ("COH107", "COH301", "COH305")
Family = Callable[[Random], str]


def drawn(family: Family, seed: int) -> str:
    """Returns the design of a seed."""
    return family(Random(seed))  # noqa: S311  (designs, not secrets)


def contradictions(text: str, counts: Counter[str], seconds: float = 1.0) -> Iterator[str]:
    """Yields every pair of answers about a design that contradict each other."""
    design = read_text(text, FILE)
    model = elaborate(design)
    cell = verdict_of(model, (), Deadline(seconds))
    yield from (disagreement.render() for disagreement in own_disagreements(model, cell, 2 * seconds))
    findings = analyse(
        design, {FILE: text}, lambda sources: read_text(sources[FILE], FILE), select=CHECKED, time_limit=seconds,
        verify_repairs=False,
    ).findings  # fmt: skip
    groups = analysed(model, time_limit=seconds).groups
    if len(groups) != 1:
        counts[f"{len(groups)} groups"] += 1
        return
    (group,) = groups
    counts.update([f"run {group.verdict}", f"sweep {cell.verdict}"])
    counts.update(f"roots {point.verdict}" for point in group.points)
    yield from _simulated(design, group.answer)
    for finding in findings:
        counts[f"{finding.code} {finding.verdict}"] += 1
        yield from _against(group.answer, finding)


def _simulated(design: Design, answer: RunVerdict) -> Iterator[str]:
    """Yields what a simulation of the stated start says otherwise of what becomes of it."""
    try:
        (note,) = study(design, Setting(10.0, 0.0, (1,))).notes
    except InputError:
        return  # rates that change between instants: no exact run, and the others say so too
    stated = answer.starts == 1 and answer.run is not None and is_nominal(answer.run.choices)
    rests, swings = note.startswith("settled for ever"), note.startswith("repeats every")
    if (rests and stated and answer.verdict == "oscillates") or (swings and answer.proved and not answer.period):
        yield f"simulate: {note}; analyze: {answer.verdict}, {answer.how}"


def _against(answer: RunVerdict, finding: Finding) -> Iterator[str]:
    """Yields what a finding and an exact run say otherwise: rest against a swing, or another period."""
    pair = (finding.verdict, answer.verdict)
    differs = finding.code == "COH107" and finding.verdict is Verdict.CONFLICT
    if differs or pair in ((Verdict.CONFLICT, "settles"), (Verdict.PROVED, "oscillates")):
        yield f"{finding.code} {finding.verdict}: {finding.message}; analyze: {answer.verdict}, {answer.how}"
    exact = finding.evidence.grade is Grade.PROVED  # else of a run in floats: the time limit may leave either to one
    if finding.code == "COH301" and pair == (Verdict.CONFLICT, "oscillates") and exact == answer.proved:
        numbers = finding.evidence.numbers
        period = numbers["period"][0] if "period" in numbers else None
        if not exact and period is not None:
            period = Fraction(f"{period:.4g}")
        if period != answer.period:
            yield f"COH301: period {period} s; analyze: {answer.period} s"


@pytest.mark.slow
@pytest.mark.parametrize("family", single_loops.FAMILIES, ids=lambda family: family.__name__)
@settings(max_examples=few(2), deadline=None)
@given(st.integers(0, 10**6))
def test_engines_agree_about_a_few_loops_of_each_family(family: Family, seed: int) -> None:
    text = drawn(family, seed)
    assert not list(contradictions(text, Counter())), text


@pytest.mark.slow
@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.__name__)
def test_engines_agree_about_loops_of_each_family(family: Family) -> None:
    counts, seconds = Counter[str](), 1.0 if family in single_loops.FAMILIES else 4.0
    for seed in range(1000, 1000 + round(15 / seconds)):
        text = drawn(family, seed)
        assert not list(contradictions(text, counts, seconds)), text
    assert {"run settles", "run oscillates"} & set(counts)  # else the family says nothing


def main() -> None:
    """Prints every contradiction among the designs of a family, and how often each answer was given."""
    name, first, last, *seconds = sys.argv[1:]
    (family,) = (family for family in FAMILIES if family.__name__ == name)
    counts = Counter[str]()
    for seed in range(int(first), int(last)):
        text = drawn(family, seed)
        for line in contradictions(text, counts, *map(float, seconds)):
            counts["contradictions"] += 1
            print(f"seed {seed}: {line}\n{text}", flush=True)  # noqa: T201  (it is run by hand)
    print(dict(sorted(counts.items())))  # noqa: T201  (it is run by hand)


if __name__ == "__main__":
    main()
