# ruff: noqa: E501
"""Draws designs of jobs that come again and again, with their truth: can one of them wait for ever on a fair run?

Every job is followed by itself.  A state says of each whether it is absent, waits, runs or is over, who waits in which
order, and whether a pass of the scheduler goes on.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import permutations
from random import Random
from typing import TypeAlias

from tests.second_interpreter.drawn import Drawn

ABSENT, WAITS, RUNS, OVER = range(4)
ABOVE = 4  # what runs on a later pool has a larger number
State: TypeAlias = tuple[tuple[int, ...], tuple[int, ...], bool]  # (of each job, who waits in order, in a pass)
Edge: TypeAlias = tuple[str, frozenset[int], State]  # (comes, ends or acts; who is let in, or ends; and what follows)
WAITED, THEN_WAITED, PRIORITY, LAST = (
    "largest job.waited first",
    "largest job.priority first, then largest job.waited first",
    "largest job.priority first",
    "smallest job.waited first",
)


@dataclass(frozen=True)
class Crowd:
    """Single jobs: what each needs, its priority, queue, kind, and whether it comes again; and the rules."""

    capacity: tuple[int, ...]  # of each pool
    needs: tuple[int, ...]
    priority: tuple[int, ...]
    queue: tuple[str, ...]
    kind: tuple[int, ...]
    again: tuple[bool, ...]
    order: str
    holds: str  # who is held back by a first one that does not fit: nobody, queue, all
    takes: str  # no, plain, kept: may a higher priority evict, and is what is freed kept for it
    uses: tuple[tuple[int, ...], ...] = ()  # the pools that each job may use; empty where there is one

    def rank(self, job: int, line: tuple[int, ...]) -> tuple[int, ...]:
        place = line.index(job)
        return {
            WAITED: (place,),
            THEN_WAITED: (-self.priority[job], place),
            PRIORITY: (-self.priority[job],),
            LAST: (-place,),
        }[self.order]

    def acts(self, state: State) -> Iterator[tuple[frozenset[int], State]]:
        """What the scheduler may do: (who is let in, the state after it)."""
        jobs, line, _ = state
        looked_at = [job for job in line if not any(self.held_by(job, other, line) for other in line)]
        able = [
            (job, pool) for job in looked_at for pool in self.may_use(job) if self.needs[job] <= self.free(jobs, pool)
        ]
        if able:
            best = min(self.rank(job, line) for job, _ in able)
            for job, pool in able:
                if self.rank(job, line) == best:
                    yield frozenset({job}), self.after(state, {job: RUNS + ABOVE * pool}, without=job)
            return
        for taker in looked_at if self.takes != "no" else ():
            for pool, gone in self.victims(jobs, taker):
                let_in = {taker: RUNS + ABOVE * pool} if self.takes == "kept" else {}
                back = self.after(state, dict.fromkeys(gone, WAITS), tail=gone)
                yield frozenset(let_in), self.after(back, let_in, without=taker if let_in else None)

    def may_use(self, job: int) -> tuple[int, ...]:
        return self.uses[job] if self.uses else (0,)

    def free(self, jobs: tuple[int, ...], pool: int) -> int:
        held = (need for need, job in zip(self.needs, jobs, strict=True) if job == RUNS + ABOVE * pool)
        return self.capacity[pool] - sum(held)

    def held_by(self, job: int, other: int, line: tuple[int, ...]) -> bool:
        near = self.holds == "all" or (self.holds == "queue" and self.queue[job] == self.queue[other])
        return near and self.rank(other, line) < self.rank(job, line)

    def victims(self, jobs: tuple[int, ...], taker: int) -> Iterator[tuple[int, tuple[int, ...]]]:
        """The pool where the taker fits, and its victims one after another until it does."""
        runs = [RUNS + ABOVE * pool for pool in self.may_use(taker)]
        lower = [v for v, job in enumerate(jobs) if job in runs and self.priority[v] < self.priority[taker]]
        for order in (part for length in range(1, len(lower) + 1) for part in permutations(lower, length)):
            before, after = (
                tuple(WAITS if v in gone else job for v, job in enumerate(jobs)) for gone in (order[:-1], order)
            )
            fits = [[p for p in self.may_use(taker) if self.needs[taker] <= self.free(at, p)] for at in (before, after)]
            if not fits[0]:
                yield from ((pool, order) for pool in fits[1])

    def after(
        self, state: State, changed: dict[int, int], without: int | None = None, tail: tuple[int, ...] = ()
    ) -> State:
        jobs, line, in_pass = state
        line = (*(job for job in line if job != without), *tail)
        return tuple(changed.get(k, job) for k, job in enumerate(jobs)), line, in_pass

    def edges(self, state: State, *, prompt: bool) -> list[Edge]:
        jobs, _, in_pass = state
        acts = list(self.acts(state))
        found: list[Edge] = []
        for let_in, (after, rest, _) in acts:
            goes_on = not prompt and any(True for _ in self.acts((after, rest, True)))
            found.append(("acts", let_in, (after, rest, goes_on)))
        if in_pass or (prompt and acts):
            return found
        for k, job in enumerate(jobs):
            if job == ABSENT:
                after, rest, _ = self.after(state, {k: WAITS})
                found.append(("comes", frozenset(), (after, (*rest, k), False)))
            if job % ABOVE == RUNS:
                after, rest, _ = self.after(state, {k: ABSENT if self.again[k] else OVER})
                found.append(("ends", frozenset({k}), (after, rest, False)))
        return found

    def alike(self, job: int) -> frozenset[int]:
        """Those with which a job takes turns: its kind where the order does not tell them apart."""
        if self.order == PRIORITY:
            return frozenset(k for k, kind in enumerate(self.kind) if kind == self.kind[job])
        return frozenset({job})

    def starves(self, *, prompt: bool) -> bool:
        """Can some job wait for ever; of a prompt scheduler: without that it ever could be let in."""
        graph = self.graph(prompt=prompt)
        return any(self.may_starve(graph, job, strict=prompt) for job in range(len(self.needs)))

    def graph(self, *, prompt: bool) -> dict[State, list[Edge]]:
        start: State = ((ABSENT,) * len(self.needs), (), False)
        graph, todo = dict[State, list[Edge]](), [start]
        while todo:
            state = todo.pop()
            if state not in graph:
                graph[state] = self.edges(state, prompt=prompt)
                todo += [after for _, _, after in graph[state]]
        return graph

    def may_starve(self, graph: dict[State, list[Edge]], job: int, *, strict: bool) -> bool:
        alike = self.alike(job)
        inside = {state for state in graph if job in state[1]}
        if any(not graph[state] for state in inside):
            return True
        if strict:
            inside = {
                state for state in inside if not any(who & alike for word, who, _ in graph[state] if word == "acts")
            }
        steps = {
            state: [edge for edge in graph[state] if edge[2] in inside and not (edge[0] == "acts" and edge[1] & alike)]
            for state in inside
        }
        return any(self.is_fair(graph, steps, group) for group in groups(steps))

    def is_fair(self, graph: dict[State, list[Edge]], steps: dict[State, list[Edge]], group: set[State]) -> bool:
        within = [edge for state in group for edge in steps[state] if edge[2] in group]
        for k in range(len(self.needs)):
            ends = any(word == "ends" and k in who for word, who, _ in within)
            if not ends and all(state[0][k] % ABOVE == RUNS for state in group):
                return False
        acts = any(word == "acts" for word, _, _ in within)
        rests = any(all(word != "acts" for word, _, _ in graph[state]) for state in group)
        return acts or rests


def groups(steps: dict[State, list[Edge]]) -> list[set[State]]:
    """States that lead to each other, of which some step stays among them: what leads to one and back."""
    forward = {state: {edge[2] for edge in edges} for state, edges in steps.items()}
    backward: dict[State, set[State]] = {state: set() for state in steps}
    for state, after in forward.items():
        for to in after:
            backward[to].add(state)
    left, found = set(steps), list[set[State]]()
    while left:
        state = next(iter(left))
        group = _from(state, forward, left) & _from(state, backward, left)
        left -= group
        if len(group) > 1 or state in forward[state]:
            found.append(group)
    return found


def _from(start: State, steps: dict[State, set[State]], within: set[State]) -> set[State]:
    seen, todo = {start}, [start]
    while todo:
        fresh = (steps[todo.pop()] & within) - seen
        seen |= fresh
        todo += fresh
    return seen


def who_starves(random: Random) -> Drawn:
    """Two or three kinds of jobs, some of which come again, under an order, a rule for the first one, and preemption."""
    kinds = random.randint(2, 3)
    numbers = [random.randint(1, 2) for _ in range(kinds)]
    needs, priority = ([random.randint(1, 3) for _ in range(kinds)] for _ in range(2))
    queues = [random.choice("ab") for _ in range(kinds)]
    again = [random.random() < 0.5 for _ in range(kinds)]
    again[0] = True
    order = random.choice([WAITED, WAITED, THEN_WAITED, THEN_WAITED, PRIORITY, LAST])
    blocked = random.choice(["is passed", "is passed", "holds its queue", "holds all", "is passed, reservation"])
    takes = random.choice(["no", "no", "plain", "kept"])
    if order == PRIORITY and blocked != "is passed":
        priority = random.sample(range(1, 4), kinds)
    if order == PRIORITY or sum(numbers) > 4:
        numbers[0] = 1
    capacity = random.randint(max(needs), max(needs) + 2)
    each = [k for k in range(kinds) for _ in range(numbers[k])]
    holds = {"is passed": "nobody", "holds its queue": "queue"}.get(blocked, "all")

    def of(values: list[int]) -> tuple[int, ...]:
        return tuple(values[k] for k in each)

    crowd = Crowd(
        (capacity,), of(needs), of(priority), tuple(queues[k] for k in each), tuple(each), tuple(again[k] for k in each),
        order, holds, takes,
    )  # fmt: skip
    promptly = crowd.starves(prompt=True)
    slowly = not promptly and crowd.starves(prompt=False)
    lines = [
        f"  j{k}: {{queue: {queues[k]}, needs: {needs[k]} gpu, copies: {numbers[k]}, priority: {priority[k]}, leaves_after: 0 s{', comes: again' if again[k] else ''}}}"
        for k in range(kinds)
    ]
    preempt = {
        "no": "",
        "plain": "  preempt: for waiting take running where running.priority < waiting.priority\n  victim: returns, no reservation\n",
        "kept": "  preempt: for waiting take running where running.priority < waiting.priority\n  victim: returns, reservation\n",
    }[takes]
    text = (
        f"coherence: 1\ncomponents: {{gpu: {{count: {capacity}}}}}\njobs:\n"
        + "\n".join(lines)
        + f'\norder:\n  admit: "{order}"\n  blocked: "{blocked}"\n{preempt}'
    )
    return Drawn(text, ("COH248",), None if slowly else promptly, unprovable=slowly)


STARVING: tuple[Callable[[Random], Drawn], ...] = (who_starves,)
