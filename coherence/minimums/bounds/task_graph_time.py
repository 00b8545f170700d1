"""task graph: the time of tasks that need each other, on a number of workers.

## What
The longest path of times, or all times over the workers, whichever is longer.

## Why it matters
For an agent's run the path is model calls and tools that wait for each other: more workers do not shorten it, only
fewer or shorter dependent steps do.

## Example
Plan 2 s, then three searches of 3, 5 and 4 s, then an answer of 1 s, on 3 workers: 8 s.

## Source
R. Graham, "Bounds on multiprocessing timing anomalies", SIAM J. Appl. Math. 17, 1969.
"""

from __future__ import annotations

from fractions import Fraction

from coherence.base import solver
from coherence.base.errors import UsageError
from coherence.findings.question_input import rational
from coherence.minimums.bound import (
    Bound,
    Checked,
    Example,
    Inputs,
    ProofGrade,
    Recheck,
    Status,
    Symbol,
    Trend,
    Witness,
    several,
)
from coherence.minimums.task_graphs import Edge, checked, longest_path, shortest_listed

TIMES = (Fraction(2), Fraction(3), Fraction(5), Fraction(4), Fraction(1))
EDGES = ((0, 1), (0, 2), (0, 3), (1, 4), (2, 4), (3, 4))


def read(inputs: Inputs) -> tuple[tuple[Fraction | float, ...], tuple[Edge, ...], int]:
    """Times, edges and workers.  Raises UsageError."""
    times = several(inputs, "times")
    try:
        edges = checked(times, several(inputs, "edges"))
    except TypeError:
        raise UsageError("edges of task_graph_time are pairs of task numbers, as 0>1") from None
    return times, edges, int(inputs["workers"])


def least(inputs: Inputs) -> Fraction | float:
    """Seconds."""
    times, edges, workers = read(inputs)
    return max(longest_path(times, edges), sum(times) / workers)


def starts() -> Checked:
    """Checks that no start times of the example end before its longest path (unsat); ending with it is possible
    (sat)."""

    def script(limit: Fraction, op: str) -> str:
        lines = ["(set-logic QF_LRA)", *(f"(declare-const s{k} Real)" for k in range(len(TIMES)))]
        lines += [f"(assert (>= s{k} 0.0))" for k in range(len(TIMES))]
        lines += [f"(assert (>= s{b} (+ s{a} {rational(TIMES[a])})))" for a, b in EDGES]
        lines += [f"(assert ({op} (+ s{k} {rational(t)}) {rational(limit)}))" for k, t in enumerate(TIMES)]
        return "\n".join([*lines, "(check-sat)"]) + "\n"

    path = Fraction(longest_path(TIMES, EDGES))
    below = script(path, "<")
    holds = solver.unsat(below, timeout_ms=2000).unsat and not solver.unsat(script(path, "<="), timeout_ms=2000).unsat
    return Checked(holds, "start times that end before the longest path: unsat", below)


def scheduled(inputs: Inputs) -> Fraction | float:
    """Runs the best schedule of a list, executed over every list."""
    times, edges, workers = read(inputs)
    return shortest_listed(times, edges, workers)


BOUND = Bound(
    name="task_graph_time",
    group="agents",
    quantity="time of all tasks",
    unit="s",
    kind=Status.THEOREM,
    loss="C",
    symbols=(
        Symbol("times", "s", "time of each task", Trend.LIST),
        Symbol("edges", "1", "pairs of tasks, the second needs the first (numbered from 0)", Trend.LIST),
        Symbol("workers", "1", "tasks that can run at once", Trend.FALLS, least=1, whole=True, sign="m"),
    ),
    compute=least,
    assumptions=("dependent_steps",),
    source="Graham 1969",
    examples=(
        Example({"times": TIMES, "edges": EDGES, "workers": Fraction(3)}, 8.0, "by hand"),
        Example({"times": (Fraction(1),) * 6, "edges": (), "workers": Fraction(2)}, 3.0, "by hand"),
        Example(
            {
                "times": (Fraction(5), Fraction(4, 5)) * 5 + (Fraction(5),),
                "edges": tuple((k, k + 1) for k in range(10)),
                "workers": Fraction(1),
            },
            34.0,
            "6 steps of 5 s and 5 tools of 0.8 s in a row",
        ),
    ),
    proofs=(Recheck("smt", "start times of the example", starts, ProofGrade.PART),),
    witness=Witness("the best list schedule, executed", scheduled),
    telemetry=("times of steps", "which step needs which"),
    display=(
        r"\max\left( \max_{\text{paths}} \sum_{i \text{ on it}} \mathrm{times}_i, \; \frac{1}{m} \sum_i "
        r"\mathrm{times}_i \right)"
    ),
    unread="it is of tasks one by one: times=A,B edges=0>1",
)
