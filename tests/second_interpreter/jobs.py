# ruff: noqa: E501
"""Draws designs of jobs that share a capacity, with their truth: every state that admission and preemption reach.

The lines of designs are long, as in YAML.  Each family returns what `drawn` says.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from random import Random

from tests.second_interpreter.drawn import Drawn
from tests.second_interpreter.loads import span, stated, whole
from tests.second_interpreter.sums import State, has_lap


def reached(start: State, moved: Callable[[State], Iterable[State]]) -> set[State]:
    """Returns every state that moves lead to."""
    seen, todo = {start}, [start]
    while todo:
        fresh = [state for state in moved(todo.pop()) if state not in seen]
        seen.update(fresh)
        todo += fresh
    return seen


def gangs_one_by_one(random: Random) -> Drawn:
    """Members of jobs that come and are admitted one by one and wait for each other; -2: not there yet, -1: over."""
    count = random.randint(2, 3)
    copies = [random.randint(1, 4) for _ in range(count)]
    needs = [random.choice([1, 1, 2]) for _ in range(count)]
    kinds = [random.choice(["barrier", "barrier", "gang"]) for _ in range(count)]
    capacities = span(random, 1, 9, (0, 0, 0, 2))
    order = random.choice(["", "", "oldest", "evenly"])

    def moved(capacity: int, state: State) -> list[State]:
        free = capacity - sum(needs[k] * held for k, held in enumerate(state) if held > 0)
        waiting = [k for k in range(count) if 0 <= state[k] < copies[k]]
        step = [copies[k] if kinds[k] == "gang" else 1 for k in range(count)]
        able = [k for k in waiting if needs[k] * step[k] <= free]
        if order == "oldest":
            able = able[:1]
        if order == "evenly":
            least = min((state[k] for k in able), default=0)
            able = [k for k in able if state[k] == least]
        after = [_with(state, k, state[k] + step[k]) for k in able]
        ended = [k for k in range(count) if state[k] == copies[k]]
        absent = [k for k in range(count) if state[k] == -2]
        comes = [_with(state, k, 0) for k in (absent[:1] if order == "oldest" else absent)]
        return after + comes + [_with(state, k, -1) for k in ended]

    def stuck(capacity: int) -> bool:
        states = reached((-2,) * count, lambda state: moved(capacity, state))
        return any(set(state) != {-1} and not moved(capacity, state) for state in states)

    cases = [stuck(capacity) for capacity in whole(capacities)]
    words = {"barrier": ", barrier: all", "gang": ", gang: all"}
    lines = [
        f"  j{k}: {{needs: {needs[k]} gpu, copies: {copies[k]}{words[kinds[k]]}{f', age: {9 - k} h' if order == 'oldest' else ''}}}"
        for k in range(count)
    ]
    rule = {
        "": "",
        "oldest": "order: {admit: largest job.age first}\n",
        "evenly": "order: {admit: smallest job.held first}\n",
    }
    text = f"coherence: 1\ncomponents: {{gpu: {{count: {stated(capacities)}}}}}\njobs:\n" + "\n".join(lines)
    return Drawn(f"{text}\n{rule[order]}", ("COH228",), any(cases), speaks=max(copies) > 1)


def _with(state: State, place: int, value: int) -> State:
    return tuple(value if k == place else held for k, held in enumerate(state))


ABSENT, WAITS, RUNS = 0, 1, 2


def takers_and_victims(random: Random) -> Drawn:
    """Jobs that come (the oldest first, where ages are stated), are admitted in an order and take from each other."""
    count = random.randint(2, 4)
    needs = [random.randint(1, 6) for _ in range(count)]
    priority = [random.randint(1, 3) for _ in range(count)]
    ages = random.sample(range(1, 9), count)
    capacity = random.randint(max(needs), 10)
    aged = random.random() < 0.5
    admit, strict = random.choice(["priority", "age" if aged else "priority", "small"]), random.choice(["<", "<", "<="])
    reserved = random.random() < 0.4
    rank = {
        "priority": [-p for p in priority],
        "age": [-a for a in ages],
        "small": needs,
    }[admit]

    def takes(taker: int, victim: int) -> bool:
        return priority[victim] < priority[taker] or (strict == "<=" and priority[victim] == priority[taker])

    def moved(state: State) -> list[State]:
        absent = [k for k in range(count) if state[k] == ABSENT]
        comes = [_with(state, k, WAITS) for k in (sorted(absent, key=lambda k: -ages[k])[:1] if aged else absent)]
        free = capacity - sum(needs[k] for k in range(count) if state[k] == RUNS)
        waiting = [k for k in range(count) if state[k] == WAITS]
        able = [k for k in waiting if needs[k] <= free]
        if able:
            first = min(rank[k] for k in able)
            return comes + [_with(state, k, RUNS) for k in able if rank[k] == first]
        return comes + [after for k in waiting for after in _taken(state, k, free)]

    def _taken(state: State, taker: int, free: int) -> list[State]:
        """The fewest victims that are enough, in every choice; the taker waits for its turn, or has the room at once."""
        victims = [k for k in range(count) if state[k] == RUNS and k != taker and takes(taker, k)]
        after = []
        for mask in range(1, 2 ** len(victims)):
            gone = [v for k, v in enumerate(victims) if mask >> k & 1]
            freed = free + sum(needs[v] for v in gone)
            if freed >= needs[taker] and all(freed - needs[v] < needs[taker] for v in gone):
                left = tuple(WAITS if k in gone else held for k, held in enumerate(state))
                after.append(_with(left, taker, RUNS) if reserved else left)
        return after

    breaks = has_lap({(ABSENT,) * count}, moved)
    lines = [
        f"  j{k}: {{needs: {needs[k]} gpu, priority: {priority[k]}{f', age: {ages[k]} h' if aged else ''}}}"
        for k in range(count)
    ]
    words = {
        "priority": "largest job.priority first",
        "age": "largest job.age first",
        "small": "smallest job.needs first",
    }
    text = (
        f"coherence: 1\ncomponents: {{gpu: {{count: {capacity}}}}}\njobs:\n"
        + "\n".join(lines)
        + f"""
order:
  admit: {words[admit]}
  preempt: for waiting take running where running.priority {strict} waiting.priority
  victim: returns, {"reservation" if reserved else "no reservation"}
"""
    )
    return Drawn(text, ("COH225",), breaks)


JOBS = (gangs_one_by_one, takers_and_victims)
