"""Kueue's admission and preemption within one ClusterQueue against the contest of jobs, arrival by arrival.

`ClusterQueue` is a plain scheduler of Kueue: cycles over the head of the queue (highest priority, then oldest), which
is admitted, preempts, or is parked until room is freed (BestEffortFIFO).  A contest explores every choice; so after
each arrival the jobs that Kueue admits must be among those with which some run of the contest comes to rest.
SOURCE: Kueue 0.9 to 0.19, pkg/cache/queue/cluster_queue.go (order of heads, inadmissible workloads),
pkg/scheduler/preemption (LowerPriority; CandidatesOrdering: lower priority first, then the newest admission;
fillBackWorkloads: those that need not go are kept, the last first, but for the last).
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

import pytest

from coherence.findings.question_input import Subject
from coherence.language.reading import read_text
from coherence.verify.facts.design_facts import known
from coherence.verify.jobs.contest import Contest, State, contest
from coherence.verify.jobs.contest_steps import arrivals, departures, nobody, scheduled
from coherence.verify.jobs.job_states import AWAY, holding
from coherence.verify.jobs.livelock import NONE, livelock
from tests.draws import source, trace_counts

Kind = tuple[int, int]  # (priority, needs)


@dataclass
class ClusterQueue:
    """Pending jobs by age, and admitted ones by the time of admission."""

    capacity: int
    pending: list[tuple[int, Kind]] = field(default_factory=list)
    admitted: list[tuple[int, Kind]] = field(default_factory=list)
    parked: set[int] = field(default_factory=set)

    def comes(self, number: int, kind: Kind) -> None:
        """Takes a job into the queue, and runs cycles until none changes anything."""
        self.pending.append((number, kind))
        while self._cycle():
            pass

    def _cycle(self) -> bool:
        heads = [job for job in self.pending if job[0] not in self.parked]
        if not heads:
            return False
        head = min(heads, key=lambda job: (-job[1][0], job[0]))
        if head[1][1] <= self._free(self.admitted):
            self.pending.remove(head)
            self.admitted.append(head)
            return True
        victims = self._victims(head)
        if victims:
            self.admitted = [job for job in self.admitted if job not in victims]
            self.pending += victims
            self.parked.clear()
        else:
            self.parked.add(head[0])
        return True

    def _free(self, admitted: list[tuple[int, Kind]]) -> int:
        return self.capacity - sum(kind[1] for _, kind in admitted)

    def _victims(self, head: tuple[int, Kind]) -> list[tuple[int, Kind]]:
        newest = list(reversed(self.admitted))
        candidates = sorted((job for job in newest if job[1][0] < head[1][0]), key=lambda job: job[1][0])
        left, victims = list(self.admitted), list[tuple[int, Kind]]()
        for candidate in candidates:
            left.remove(candidate)
            victims.append(candidate)
            if head[1][1] <= self._free(left):
                break
        else:
            return []
        for kept in list(reversed(victims[:-1])):
            if head[1][1] <= self._free([*left, kept]):
                left.append(kept)
                victims.remove(kept)
        return victims


def jobs_of(capacity: int, kinds: list[Kind]) -> Contest:
    """Returns the contest of a design with these jobs."""
    lines = [f"  j{n}: {{queue: q, needs: {needs} gpu, priority: {rank}}}" for n, (rank, needs) in enumerate(kinds)]
    order = (
        "order: {admit: largest job.priority first, victim: 'returns, reservation', "
        "preempt: for waiting take running where running.priority < waiting.priority}"
    )
    text = f"coherence: 1\ncomponents: {{gpu: {{count: {capacity}}}}}\njobs:\n" + "\n".join([*lines, order, ""])
    return contest(known(Subject(read_text(text))))


def rests(there: Contest, starts: set[State]) -> set[State]:
    """Returns the states in which nothing is left to do, from some states on."""
    found, seen, stack = set[State](), set(starts), list(starts)
    while stack:
        state = stack.pop()
        after = [step.to for step in (*scheduled(there, state), *departures(there, state))]
        if not after:
            found.add(state)
        fresh = set(after) - seen
        seen |= fresh
        stack += fresh
    return found


def after_arrival(there: Contest, states: set[State], k: int) -> set[State]:
    """Returns the states after a job of kind k has come."""
    return {
        step.to for state in states for step in arrivals(there, state) if step.to[k].count(AWAY) < state[k].count(AWAY)
    }


def running(there: Contest, state: State) -> Counter[Kind]:
    """Returns how many jobs of each kind hold what they need."""
    held = Counter[Kind]()
    for kind, jobs in zip(there.kinds, state, strict=True):
        held[int(kind.attributes["priority"]), int(kind.needs["gpu"])] += sum(holding(job) > 0 for job in jobs)
    return +held


@trace_counts(40)
def test_what_kueue_admits_is_a_rest_of_the_contest(traces: int) -> None:
    rng = source(8)
    for trace in range(traces):
        capacity = rng.randint(2, 8)
        kinds = [(rng.randint(0, 3), rng.randint(1, min(5, capacity))) for _ in range(rng.randint(2, 5))]
        there, plain = jobs_of(capacity, kinds), ClusterQueue(capacity)
        numbers = {(int(k.attributes["priority"]), int(k.needs["gpu"])): n for n, k in enumerate(there.kinds)}
        states = {nobody(there)}
        for number, kind in enumerate(kinds):
            plain.comes(number, kind)
            states = rests(there, after_arrival(there, states, numbers[kind]))
            admitted = Counter(kind for _, kind in plain.admitted)
            assert admitted in [running(there, state) for state in states], (capacity, kinds[: number + 1])
        if trace % 20 == 0:  # every order of arrival
            assert livelock(there).verdict == NONE


# Rows of the original's own tests: kubernetes-sigs/kueue, pkg/scheduler/preemption/preemption_test.go (Apache License
# 2.0), a ClusterQueue of 6 CPUs with preemption of lower priorities: (priority, CPUs) of those admitted and of the one
# that comes, and which of them are preempted.  Priorities are one more than there.
LOW, MID, HIGH = 0, 1, 2
ORIGINAL: dict[str, tuple[list[Kind], Kind, list[Kind]]] = {
    "preempt lowest priority": ([(LOW, 2), (MID, 2), (HIGH, 2)], (HIGH, 2), [(LOW, 2)]),
    "preempt multiple": ([(LOW, 2), (MID, 2), (HIGH, 2)], (HIGH, 3), [(LOW, 2), (MID, 2)]),
    "no preemption for low priority": ([(LOW, 3), (MID, 3)], (LOW, 1), []),
    "not enough low priority workloads": ([(LOW, 3), (MID, 3)], (MID, 4), []),
    "some free quota, preempt low priority": ([(LOW, 1), (MID, 1), (HIGH, 3)], (HIGH, 2), [(LOW, 1)]),
    "minimal set excludes low priority": ([(LOW, 1), (MID, 2), (HIGH, 3)], (HIGH, 2), [(MID, 2)]),
}


@pytest.mark.parametrize("name", ORIGINAL)
def test_preemption_is_that_of_the_tests_of_the_original(name: str) -> None:
    admitted, comes, preempted = ORIGINAL[name]
    there, plain = jobs_of(6, [*admitted, comes]), ClusterQueue(6)
    numbers = {(int(k.attributes["priority"]), int(k.needs["gpu"])): n for n, k in enumerate(there.kinds)}
    states = {nobody(there)}
    for number, kind in enumerate((*admitted, comes)):
        plain.comes(number, kind)
        states = rests(there, after_arrival(there, states, numbers[kind]))
    wanted = Counter(admitted) - Counter(preempted) + Counter([comes] if preempted else [])
    assert Counter(kind for _, kind in plain.admitted) == wanted
    assert wanted in [running(there, state) for state in states]
