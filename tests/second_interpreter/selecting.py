# ruff: noqa: E501
"""Draws designs of jobs that may use some of the places, with their truth: can one of them wait for ever on a fair run?"""

from __future__ import annotations

from collections.abc import Callable
from random import Random

from tests.second_interpreter.drawn import Drawn
from tests.second_interpreter.starving import LAST, PRIORITY, THEN_WAITED, WAITED, Crowd

RULES = {(): (0, 1), ("only on zone a",): (0,), ("not on zone a",): (1,), ("tolerates spot",): (0, 1)}


def who_starves_on_places(random: Random) -> Drawn:
    """Two or three kinds of jobs on two places, one of which only some of them may use."""
    kinds = random.randint(2, 3)
    numbers = [random.randint(1, 2) for _ in range(kinds)]
    if sum(numbers) > 4:
        numbers[0] = 1
    needs, priority = ([random.randint(1, 2) for _ in range(kinds)] for _ in range(2))
    again = [True, *(random.random() < 0.5 for _ in range(kinds - 1))]
    order = random.choice([WAITED, WAITED, THEN_WAITED, PRIORITY, LAST])
    blocked = random.choice(["is passed", "is passed", "holds its queue", "holds all"])
    takes = random.choice(["no", "no", "plain", "kept"])
    if order == PRIORITY:
        priority = random.sample(range(1, 4), kinds)
        numbers = [1] * kinds
    tainted = random.random() < 0.4
    rules = [random.choice(list(RULES)) for _ in range(kinds)]
    may = [_may_use(rule, tainted=tainted) for rule in rules]
    room = [random.randint(1, 3), random.randint(1, 3)]
    for k in range(kinds):
        if not any(room[pool] >= needs[k] for pool in may[k]):
            needs[k] = 1
    queues = [random.choice("ab") for _ in range(kinds)]
    one = all(uses == (0, 1) for uses in may)  # then the places are one pool
    each = [k for k in range(kinds) for _ in range(numbers[k])]
    crowd = Crowd(
        (sum(room),) if one else tuple(room), tuple(needs[k] for k in each), tuple(priority[k] for k in each),
        tuple(queues[k] for k in each), tuple(each), tuple(again[k] for k in each), order,
        {"is passed": "nobody", "holds its queue": "queue"}.get(blocked, "all"), takes,
        () if one else tuple(may[k] for k in each),
    )  # fmt: skip
    promptly = crowd.starves(prompt=True)
    slowly = not promptly and crowd.starves(prompt=False)
    jobs = "\n".join(
        f"  j{k}: {{queue: {queues[k]}, needs: {needs[k]} gpu, copies: {numbers[k]}, priority: {priority[k]}, leaves_after: 0 s{', comes: again' if again[k] else ''}}}"
        for k in range(kinds)
    )
    placed = "".join(f"  j{k}: [{', '.join(rule)}]\n" for k, rule in enumerate(rules) if rule)
    preempt = "  preempt: for waiting take running where running.priority < waiting.priority\n"
    victim = {
        "no": "",
        "plain": f"{preempt}  victim: returns, no reservation\n",
        "kept": f"{preempt}  victim: returns, reservation\n",
    }
    text = (
        f"coherence: 1\ncomponents: {{gpu: {{count: {sum(room)}}}}}\n"
        f"places: {{n1: {{zone: a, gpu: {room[0]}{', taint: spot' if tainted else ''}}}, n2: {{zone: b, gpu: {room[1]}}}}}\n"
        + (f"placement:\n{placed}" if placed else "")
        + f'jobs:\n{jobs}\norder:\n  admit: "{order}"\n  blocked: "{blocked}"\n{victim[takes]}'
    )
    return Drawn(text, ("COH248",), None if slowly else promptly, unprovable=slowly)


def _may_use(rule: tuple[str, ...], *, tainted: bool) -> tuple[int, ...]:
    """The places that take a job: a taint closes the first to all that do not say that they bear it."""
    return tuple(pool for pool in RULES[rule] if pool or not tainted or rule == ("tolerates spot",)) or (1,)


SELECTING: tuple[Callable[[Random], Drawn], ...] = (who_starves_on_places,)
