"""Models of work that is put in order: checkpoints, passes of a pipeline, tasks of a graph, members at a barrier."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any, cast

from coherence.minimums.adversaries.search import Adversary, Chooser, HopelessError
from coherence.minimums.bound import Inputs, several
from coherence.minimums.bounds.pipeline_no_flush import idle
from coherence.minimums.floors import Number
from coherence.minimums.pipeline_runs import needed
from coherence.minimums.task_graphs import listed

INTERVALS = 400


def saved(choose: Chooser, bound: str, inputs: Inputs, dropped: frozenset[str]) -> Number:
    """Work is cut at a chosen interval; attempts that fail, and restarts that fail, are counted one by one."""
    assert bound
    write, mean, restart = (float(inputs[name]) for name in ("write", "mtbf", "restart"))
    down = restart if "failures_in_restarts" in dropped else mean * math.expm1(restart / mean)
    if dropped & {"unannounced", "exponential"}:
        return (write + restart) / (mean + write + restart)  # saved once, just before each failure
    work: float = math.sqrt(2 * write * mean) * 2.0 ** choose([4 * k / INTERVALS - 2 for k in range(INTERVALS + 1)])
    attempt = work if "blocking_checkpoint" in dropped else work + write
    failed = math.expm1(attempt / mean)  # attempts that fail before one does not
    again = mean - attempt / failed  # what is lost in each of them
    if "full_recompute" in dropped:
        failed, again = attempt / mean, 0.0
    return 1 - work / (attempt + failed * (again + down))


def passes(choose: Chooser, bound: str, inputs: Inputs, dropped: frozenset[str]) -> Number:
    """Every stage takes the passes of the micro-batches in an order that it chooses."""
    share = bound != "pipeline_makespan"
    stages = int(inputs["p"]) if share else len(several(inputs, "forward"))
    forward = (Fraction(1),) * stages if share else several(inputs, "forward")
    backward = (Fraction(2),) * stages if share else several(inputs, "backward")
    batches = int(inputs["m"]) * (2 if "flush" in dropped else 1)
    long = [Fraction(1)] * batches
    if "equal_batches" in dropped and batches == 3:
        long = choose(([Fraction(1)] * 3, [Fraction(4, 5), Fraction(7, 5), Fraction(4, 5)]))
    parts = {"F": forward, "B": backward}
    if bound == "pipeline_bubble_split":
        times = (("F", "forward"), ("B", "input_gradient"), ("W", "weight_gradient"))
        parts = {kind: (Fraction(inputs[name]),) * stages for kind, name in times}
    elif "unsplit_backward" in dropped:
        half = tuple(Fraction(time) / 2 for time in backward)
        parts = {"F": forward, "B": half, "W": half}
    end = _executed(choose, [_order(choose, tuple(parts), batches) for _ in range(stages)], parts, long)
    work = sum(sum(times) for times in parts.values()) * sum(long)
    return 1 - Fraction(work) / (stages * end) if share else end / (2 if "flush" in dropped else 1)


def _order(choose: Chooser, kinds: tuple[str, ...], batches: int) -> list[tuple[str, int]]:
    """Returns an order in which each pass of a micro-batch follows the one before it; alike ones come in turn."""
    order: list[tuple[str, int]] = []
    done = dict.fromkeys(kinds, 0)
    while len(order) < len(kinds) * batches:
        ready = [k for i, k in enumerate(kinds) if done[k] < (done[kinds[i - 1]] if i else batches)]
        kind = choose(ready)
        order.append((kind, done[kind]))
        done[kind] += 1
    return order


def _executed(choose: Chooser, orders: list[list[tuple[str, int]]], times: Any, long: list[Fraction]) -> Fraction:
    """Returns when the last stage is done.  Raises HopelessError where the orders wait for each other."""
    stages, left = len(orders), [list(order) for order in orders]
    done, free = dict[Any, Fraction](), [Fraction(0)] * len(orders)
    while any(left):
        before = len(done)
        for stage, order in enumerate(left):
            while order and ((need := needed(order[0][0], stage, order[0][1], stages)) is None or need in done):
                kind, batch = order.pop(0)
                free[stage] = max(free[stage], done.get(need, Fraction(0))) + times[kind][stage] * long[batch]
                done[kind, stage, batch] = free[stage]
        if len(done) == before:
            raise HopelessError
    assert choose.asked
    return max(free)


def tasks(choose: Chooser, bound: str, inputs: Inputs, dropped: frozenset[str]) -> Number:
    """Workers take tasks in an order of priority that is chosen."""
    assert bound
    times, edges = several(inputs, "times"), () if "dependent_steps" in dropped else several(inputs, "edges")
    left, order = list(range(len(times))), list[int]()
    while left:
        order.append(choose(left))
        left = [task for task in left if task != order[-1]]
    return listed(times, edges, int(inputs["workers"]), order)


def coupled(choose: Chooser, bound: str, inputs: Inputs, dropped: frozenset[str]) -> Number:
    """Two members with given means take chosen times in four equally likely cases, dependent in any way."""
    assert bound
    assert not dropped
    shapes = ((1, 1, 1, 1), (0, 0, 2, 2), (0, 0, 0, 4), (0, 1, 1, 2))
    shape, other = (choose(shapes) for _ in range(2))
    left, paired = list(other), list[int]()
    for _ in shape:
        paired.append(choose(left))
        left.remove(paired[-1])
    means = Fraction(inputs["mean"]), Fraction(inputs["other_mean"])
    ends = [max(a * means[0], b * means[1]) for a, b in zip(shape, paired, strict=True)]
    return sum(ends, Fraction(0)) / len(ends)


def overlapped(choose: Chooser, bound: str, inputs: Inputs, dropped: frozenset[str]) -> Number:
    """Stages go on without end, one forward and one backward; some micro-batches are held back or not."""
    assert bound
    assert not dropped
    assert not inputs
    stages = choose((1, 2, 3))
    return idle(stages, 4 * stages + 4, Fraction(1), choose((Fraction(1), Fraction(2))))


LISTS = {"forward": (1, 2), "backward": (2, 3)}
SPLIT: Inputs = {"p": 2, "m": 1, "forward": Fraction(1), "input_gradient": Fraction(1), "weight_gradient": Fraction(2)}
GRAPH = {"times": (2, 3, 5, 4, 1), "edges": ((0, 1), (0, 2), (0, 3), (1, 4), (2, 4), (3, 4))}
SAVES = ({"write": 30, "mtbf": 11134.8, "restart": 300}, {"write": 30, "mtbf": 3600, "restart": 1800})
MEANS = ({"mean": Fraction(5), "other_mean": Fraction(4)}, {"mean": Fraction(1), "other_mean": Fraction(1)})
ADVERSARIES = (
    Adversary(
        "intervals between checkpoints",
        {"checkpoint_overhead": SAVES},
        saved,
        ("failures_in_restarts", "unannounced", "exponential", "blocking_checkpoint", "full_recompute"),
    ),
    Adversary(
        "orders of passes",
        {
            "pipeline_bubble_share": ({"p": 2, "m": 2}, {"p": 2, "m": 3}, {"p": 3, "m": 2}),
            "pipeline_bubble_split": (SPLIT, {**SPLIT, "m": Fraction(2)}),
            "pipeline_makespan": (cast("Any", {**LISTS, "m": 2}), cast("Any", {**LISTS, "m": 3})),
        },
        passes,
        ("flush", "unsplit_backward", "equal_batches"),
    ),
    Adversary(
        "orders of tasks",
        {"task_graph_time": tuple(cast("Any", {**GRAPH, "workers": workers}) for workers in (1, 2, 3))},
        tasks,
        ("dependent_steps",),
    ),
    Adversary("passes without end", {"pipeline_no_flush": ({},)}, overlapped),
    Adversary("members that depend", {"barrier_any_dependence": MEANS}, coupled),
)
