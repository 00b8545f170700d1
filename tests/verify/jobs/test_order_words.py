"""The words of an order in a state of the contest: what each means, by hand."""

from __future__ import annotations

from fractions import Fraction

import pytest

from coherence.findings.question_input import Subject
from coherence.language.reading import read_text
from coherence.verify.facts.design_facts import known
from coherence.verify.jobs.contest import Contest, contest
from coherence.verify.jobs.job_kinds import Amount
from coherence.verify.jobs.job_states import AWAY, GONE
from coherence.verify.jobs.needs import NeedsError
from coherence.verify.jobs.order_words import free, key, lookup, may_take, names, used

GIB = 2**30
TEXT = """coherence: 1
components:
  gpu: {count: 16}
  q1: {deserved: 4 gpu}
  q2: {deserved: 6 gpu}
  hall: {ram: 64 GiB, limit: 7}
jobs:
  a: {queue: q1, needs: 2 gpu, priority: 3, copies: 2}
  b: {queue: q2, needs: 3 gpu, priority: 5, age: 2 h, gang: 4, copies: 4}
  c: {queue: q2, needs: 1 gpu, priority: 1}
  d: {needs: {gpu: 1, ram: 8 GiB}, copies: 3}
order:
  admit: ADMIT first
  preempt: for TAKER take VICTIM where CONDITION
  victim: returns, no reservation
"""
# one of two a runs (2 gpu), b holds 4 members (12 gpu), c has not come yet, of the d one runs, one waits, one is gone
STATE = ((0, 1), (4,), (AWAY,), (GONE, 0, 1))


def the_contest(
    admit: str = "smallest queue.used / queue.deserved",
    *,
    taker: str = "b",
    victim: str = "job",
    where: str = "job.priority < b.priority",
) -> Contest:
    pairs = (("ADMIT", admit), ("TAKER", taker), ("VICTIM", victim), ("CONDITION", where))
    text = TEXT
    for old, new in pairs:
        text = text.replace(old, new)
    return contest(known(Subject(read_text(text), {"<design>": text})))


def test_only_members_that_run_hold_something() -> None:
    jobs = the_contest()
    assert used(jobs, STATE, "gpu") == 2 + 12 + 1
    assert used(jobs, STATE, "ram") == 8 * GIB
    assert used(jobs, STATE, "gpu", "q1") == 2
    assert used(jobs, STATE, "gpu", "q2") == 12
    assert free(jobs, STATE, "gpu") == 1
    assert free(jobs, STATE, "ram") == 56 * GIB


@pytest.mark.parametrize(
    ("path", "values"),
    [
        # of the job that the order looks at: a, b, c, d in turn; `held` is 1
        ("job.priority", (3, 5, 1, None)),
        ("priority", (3, 5, 1, None)),
        ("job.age", (None, 7200, None, None)),
        ("job.needs", (2, 12, 1, None)),  # two needs have no one amount
        ("job.needs.gpu", (2, 12, 1, 1)),
        ("job.needs.ram", (0, 0, 0, 8 * GIB)),
        ("job.gpu", (2, 12, 1, 1)),
        ("held", (1, 1, 1, 1)),
        ("job.running", (1, 1, 1, 1)),
        ("job.queue.deserved", (4, 6, 6, "queue of d")),
        ("queue.deserved", (4, 6, 6, "queue of d")),
        ("job.queue.running", (1, 1, 1, 1)),
        ("queue.waiting", (1, 0, 0, 1)),
        # of what is named, whoever looks
        ("a.priority", (3,)),
        ("b.needs", (12,)),
        ("b.held", (None,)),
        ("q1.running", (1,)),
        ("q1.admitted", (1,)),
        ("q1.waiting", (1,)),
        ("q1.pending", (1,)),
        ("q2.running", (1,)),
        ("q2.waiting", (0,)),
        ("q1.used", (2,)),
        ("q2.used_gpu", (12,)),
        ("q2.gpu_used", (12,)),
        ("q1.deserved", (4,)),
        ("q1.share", ("q1.share",)),
        ("gpu.count", (16,)),
        ("gpu.used", (15,)),
        ("gpu.free", (1,)),
        ("gpu.gpu_used", (15,)),
        ("gpu.used_gpu", (15,)),
        ("gpu.free_gpu", (1,)),
        ("gpu.gpu_free", (1,)),
        ("hall.ram", (64 * GIB,)),
        ("hall.ram_used", (8 * GIB,)),
        ("hall.used_ram", (8 * GIB,)),
        ("hall.ram_free", (56 * GIB,)),
        ("hall.limit", (7,)),
        ("nothing.at", (None,)),
    ],
)
def test_each_word_has_its_value(path: str, values: tuple[Amount | str | None, ...]) -> None:
    jobs = the_contest()
    for kind, value in zip(jobs.kinds, values, strict=False):
        if isinstance(value, str):
            with pytest.raises(NeedsError, match=value):
                lookup(jobs, STATE, path, {"job": kind}, kind, 1)
        else:
            assert lookup(jobs, STATE, path, {"job": kind}, kind, 1) == value, kind.name


def test_queues_are_ordered_as_they_are_first_named() -> None:
    jobs = the_contest()
    a, b, *_ = jobs.kinds
    assert [lookup(jobs, STATE, "job.queue", {"job": kind}, kind, 1) for kind in (a, b)] == [0, 1]


def test_another_job_than_the_one_looked_at_holds_no_known_number() -> None:
    jobs = the_contest()
    a, b, *_ = jobs.kinds
    assert lookup(jobs, STATE, "other.held", {"other": b}, a, 3) is None
    assert lookup(jobs, STATE, "other.held", {"other": a}, a, AWAY) == 0


def test_the_smallest_share_goes_first_and_the_largest_is_turned_around() -> None:
    smallest, largest = the_contest(), the_contest("largest queue.used / queue.deserved")
    a, b, *_ = smallest.kinds
    state = ((0, 1), (4,), (0,), (0, 0, 0))
    assert key(smallest, state, a, 0) == (Fraction(2, 4),)
    assert key(largest, state, a, 0) == (-Fraction(2, 4),)
    assert key(the_contest("smallest held"), state, b, 3) == (3,)
    assert key(the_contest("smallest job.age"), state, b, 0) == (7200,)


def test_a_division_by_zero_is_the_last_where_small_goes_first() -> None:
    smallest, largest = the_contest("smallest 1 / queue.waiting"), the_contest("largest 1 / queue.waiting")
    b = smallest.kinds[1]
    assert key(smallest, STATE, b, 0) == (float("inf"),)
    assert key(largest, STATE, b, 0) == (float("-inf"),)
    with pytest.raises(NeedsError, match="needs x"):
        key(the_contest("smallest x.y"), STATE, b, 0)


@pytest.mark.parametrize(
    ("taker", "victim", "where", "pairs"),
    [
        # b takes what has less priority, and so not another b; d has no priority to compare
        ("b", "job", "job.priority < b.priority", {"ba", "bc"}),
        ("job", "c", "c.priority < job.priority", {"ac", "bc"}),
        ("b", "a", "a.priority < b.priority", {"ba"}),
        ("taker", "victim", "victim.priority < taker.priority", {"ac", "ba", "bc"}),
        ("taker", "victim", "victim.priority <= taker.priority", {"aa", "ac", "ba", "bc"}),  # one of two a
        ("taker", "q2", "q2.used_gpu > q2.deserved", {"ab", "ac"}),
        # about its queue alone: a job of the same queue gains nothing (q2 uses 12 of 6, q1 2 of 4)
        ("taker", "victim", "victim.queue.used_gpu > victim.queue.deserved", {"ab", "ac"}),
        ("taker", "victim", "victim.held > 3", {"ab", "cb"}),
    ],
)
def test_a_rule_takes_whom_it_names(taker: str, victim: str, where: str, pairs: set[str]) -> None:
    jobs = the_contest(taker=taker, victim=victim, where=where)
    kinds = jobs.kinds[:3]
    assert {t.name + v.name for t in kinds for v in kinds if may_take(jobs, STATE, t, v)} == pairs


def test_a_word_of_the_rule_means_a_job_a_queue_or_any_job() -> None:
    jobs = the_contest()
    meant = {word: "".join(k.name for k in jobs.kinds if names(jobs, word, k)) for word in ("a", "d", "q1", "q2", "x")}
    assert meant == {"a": "a", "d": "d", "q1": "a", "q2": "bc", "x": "abcd"}
