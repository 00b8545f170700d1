"""Pools of places that take the same jobs: what each has, who may use it, and what is asked for."""

from __future__ import annotations

from fractions import Fraction

import pytest

from coherence.findings.question_input import Subject
from coherence.language.reading import read_text
from coherence.verify.facts.design_facts import known
from coherence.verify.jobs.certificates import saturated
from coherence.verify.jobs.contest import Contest, contest
from coherence.verify.jobs.contest_steps import admissions, admitted, arrivals, nobody
from coherence.verify.jobs.job_states import LEAVING, POOL, coded, holding, is_leaving, pool_of
from coherence.verify.jobs.livelock import sweep
from coherence.verify.jobs.needs import NeedsError

TEXT = """coherence: 1
components: {gpu: {count: 6}}
places: {n1: {zone: a, gpu: 1, count: 2}, n2: {zone: b, gpu: 3}, n3: {zone: a, gpu: 1}}
placement: {large: [only on zone a], other: [RULE]}
jobs: {small: {needs: 1 gpu, copies: 2}, large: {needs: 2 gpu}, other: {needs: 4 gpu}}
"""


def jobs_of(text: str = TEXT, rule: str = "prefer on zone b") -> Contest:
    text = text.replace("RULE", rule)
    return contest(known(Subject(read_text(text), {"<design>": text})), merged=False)


def test_places_that_take_the_same_jobs_are_one_pool() -> None:
    jobs = jobs_of()
    rooms = [(pool.places, dict(pool.room)) for pool in jobs.pools]
    assert rooms == [
        (("n1", "n3"), {"gpu": Fraction(3)}),
        (("n2",), {"gpu": Fraction(3)}),
    ]
    assert [kind.pools for kind in jobs.kinds] == [(0, 1), (0,), (0, 1)]
    assert jobs.where(jobs.kinds[0], 1) == " on n2"
    assert not jobs.where(jobs.kinds[1], 0)


def test_a_job_is_too_large_for_each_pool_though_not_for_all_together() -> None:
    jobs = jobs_of()
    assert [jobs.is_too_large(kind, 1) for kind in jobs.kinds] == [False, False, True]


def test_a_job_is_admitted_on_each_pool_that_has_room() -> None:
    jobs = jobs_of()
    (come, *_) = arrivals(jobs, nobody(jobs))
    after = {step.to[0] for step in admissions(jobs, come.to)}
    assert {tuple(map(pool_of, filter(lambda job: job > 0, row))) for row in after} == {(0,), (1,)}
    assert {step.text for step in admissions(jobs, come.to)} == {
        "a small is admitted on n1 and n3: 1 gpu held", "a small is admitted on n2: 1 gpu held"
    }  # fmt: skip


def test_the_pool_and_the_members_are_one_number() -> None:
    kind = jobs_of().kinds[0]
    runs = admitted(kind, 0, 1)
    assert (runs, holding(runs), pool_of(runs)) == (POOL + 1, 1, 1)
    leaves = coded(LEAVING, held=runs)
    assert (is_leaving(leaves), holding(leaves), pool_of(leaves)) == (True, 1, 1)


def test_places_that_take_every_job_are_no_pools() -> None:
    assert jobs_of(TEXT.replace("placement: {large: [only on zone a], other: [RULE]}\n", "")).pools == ()


def test_no_amount_of_the_whole_says_who_gets_which_part() -> None:
    jobs = jobs_of(rule="tolerates spot")
    assert sweep(jobs, "gpu").verdicts == ()
    assert saturated(jobs) is None


@pytest.mark.parametrize(
    ("old", "new", "needs"),
    [
        ("gpu: 3}", "cpu: 3}", "one value for gpu of n2"),
        ("count: 2}", "count: 2..3}", "one count of n1"),
        ("RULE", "spread by zone <= 1", "places of other by `only on`"),
        ("RULE", "only on zone c", "a place that takes other: none does"),
        ("large: {needs: 2 gpu}", "large: {needs: 2 gpu}, free: {needs: 1 gpu, copies: 2, gang: 2}",
         "one sort of places for all members of free"),
        ("gpu: {count: 6}", "gpu: {count: 6}, web: {copies: 1, needs: 1 gpu}", "on which places lies what holds gpu"),
    ],
)  # fmt: skip
def test_what_is_left_open_is_asked_for(old: str, new: str, needs: str) -> None:
    with pytest.raises(NeedsError, match=needs):
        jobs_of(TEXT.replace(old, new))


def test_a_number_of_places_that_a_loop_writes_is_asked_for() -> None:
    loop = "loops: {adds: {actuation: {signal: n1.count, bounds: 1..3}}}\n"
    with pytest.raises(NeedsError, match="a fixed count of n1"):
        jobs_of(TEXT + loop)
