"""A timer that cuts an activity short, from the event that began it: against every run at the ends of all ranges."""

from __future__ import annotations

import itertools
import random

import pytest

from coherence.checking.design_check import analyse
from coherence.findings.finding import Verdict
from coherence.language.reading import read_text
from coherence.verify.events import graph
from coherence.verify.events.endings import with_decided_ends
from tests.draws import source

Range = tuple[int, int]


def design_text(begins: Range, cuts: Range, lasts: Range, limit: int) -> str:
    def written(ends: Range) -> str:
        return f"{ends[0]} s .. {ends[1]} s" if ends[0] < ends[1] else f"{ends[0]} s"

    return f"""coherence: 1
components: {{rank: {{takes: {{checkpoint: {written(lasts)}}}}}}}
timers:
  save: {{from: preempt warned, after: {written(begins)}, then: rank.checkpoint starts}}
  cut: {{from: preempt warned, after: {written(cuts)}, then: rank.checkpoint ends}}
promises: {{p: after preempt warned then rank.checkpoint ends within {limit} s}}
"""


def ends(begins: Range, cuts: Range, lasts: Range) -> set[int]:
    """Returns when the activity is over, at the ends of all ranges."""
    return {
        min(cut, begin + long) if cut > begin else begin + long
        for begin, cut, long in itertools.product(begins, cuts, lasts)
    }


def drawn(rng: random.Random, most: int) -> Range:
    low = rng.randint(1, most)
    return low, rng.choice((low, low + rng.randint(0, most)))


def test_answers_are_those_of_all_runs() -> None:
    rng, decided = source(15), 0
    for _ in range(40):
        begins, cuts, lasts, limit = drawn(rng, 30), drawn(rng, 60), drawn(rng, 80), rng.randint(5, 90)
        text = design_text(begins, cuts, lasts, limit)
        findings = analyse(
            read_text(text),
            {"d": text},
            lambda sources: read_text(sources["d"]),
            select=("COH243",),
            verify_repairs=False,
        ).findings
        (verdict,) = {finding.verdict for finding in findings if finding.code == "COH243"}
        over = ends(begins, cuts, lasts)
        decided += verdict in (Verdict.PROVED, Verdict.CONFLICT)
        if verdict is Verdict.PROVED:
            assert max(over) <= limit, text
        if verdict is Verdict.CONFLICT:
            assert max(over) > limit, text
    assert decided > 15


@pytest.mark.parametrize(("cut", "kinds"), [(120, {"activity", "begins"}), (5, {"activity"})])
def test_cut_is_an_end_where_the_activity_runs(cut: int, kinds: set[str]) -> None:
    design = read_text(design_text((10, 10), (cut, cut), (300, 300), 60))
    links = with_decided_ends(design, graph.event_graph(design))["rank.checkpoint ends"]
    assert {link.kind for link in links} == kinds


AT_ONCE = ("kill job", "job ends", "requeue job", "abort job.run", "job.run ends", "job finishes")
LATER = ("stop job", "evict job", "alert job")  # they wait for what is under way, or tell


def test_a_job_that_is_ended_by_its_first_timer_or_itself_is_answered_as_all_runs_are() -> None:
    rng, decided = source(16), 0
    for _ in range(40):
        lasts, limit = drawn(rng, 40), rng.randint(5, 60)
        stated = [(drawn(rng, 50), rng.choice((*AT_ONCE, *AT_ONCE, *LATER))) for _ in range(rng.randint(1, 2))]
        timers = "".join(
            f"  t{k}: {{from: job starts, after: {low} s .. {high} s, then: {then}}}\n"
            for k, ((low, high), then) in enumerate(stated)
        )
        text = (
            f"coherence: 1\ncomponents: {{job: {{takes: {{run: {lasts[0]} s .. {lasts[1]} s}}}}}}\ntimers:\n{timers}"
            f"promises: {{p: after job starts then job ends within {limit} s}}\n"
        )
        cuts = [ends for ends, then in stated if then in AT_ONCE]
        over = {min(choice) for choice in itertools.product(lasts, *cuts)}
        findings = analyse(
            read_text(text), {"d": text}, lambda sources: read_text(sources["d"]), select=("COH243",)
        ).findings
        (verdict,) = {finding.verdict for finding in findings if finding.code == "COH243"}
        decided += verdict in (Verdict.PROVED, Verdict.CONFLICT)
        if verdict is Verdict.PROVED:
            assert max(over) <= limit, text
        if verdict is Verdict.CONFLICT:
            assert max(over) > limit, text
    assert decided > 20
