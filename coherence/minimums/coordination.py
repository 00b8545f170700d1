"""Says what a clock, a leader, a detector, a bound on delays buys: floors of one task in a lattice of models.

A model is the set of aids that processes have beyond messages whose delays nobody knows.  With more aids a floor never
rises.  A task that nothing solves without an aid has no number there, but the theorem that says so.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from coherence.minimums.bound import Bound
from coherence.minimums.floors import Number, Span, over
from coherence.minimums.registry import entry

AIDS: Mapping[str, tuple[str, str]] = {  # aid -> what it is, and the assumption that it drops
    "leader": ("an oracle that at some time names one process that runs, for good, to all", ""),
    "eventual_bound": ("from some unknown time on a bound on the delay of messages holds", ""),
    "detector": ("an oracle that names all who have stopped, and nobody else", "late_messages"),
    "delay_bound": ("a bound on the delay of messages that always holds", "late_messages"),
    "lots": ("each process may draw lots", ""),
    "clock": ("clocks of all processes agree exactly", "messages_only"),
    "multicast": ("a message reaches all at one time", "unicast"),
    "one_side": ("clients are answered on one side of a cut alone", "both_sides_answer"),
    "old_answers": ("an answer may be older than the last write", "last_write_read"),
}
FLP = "M. Fischer, N. Lynch and M. Paterson, J. ACM 32(2), 1985: no rule without lots decides in all runs"


@dataclass(frozen=True)
class ModelFloor:
    """A task in one model: the bound that holds there, or the theorem that nothing solves it; or a number at once."""

    aids: frozenset[str]
    bound: str = ""
    why: str = ""
    value: Number = math.inf


@dataclass(frozen=True)
class Task:
    """A task, with a cell for each model of which something is known."""

    name: str
    says: str
    cells: tuple[ModelFloor, ...]


def _with(*aids: str, bound: str = "", why: str = "", value: Number = math.inf) -> ModelFloor:
    return ModelFloor(frozenset(aids), bound, why, value)


TASKS = (
    Task("replicas", "fewest replicas that agree although f of them stop", (
        _with(why=FLP),
        _with("leader", bound="crash_replicas"),
        _with("eventual_bound", bound="crash_replicas"),
        _with("lots", bound="crash_replicas"),
        _with("delay_bound", bound="surviving_replicas"),
        _with("detector", bound="surviving_replicas"),
    )),
    Task("replicas_that_lie", "fewest replicas that agree although f of them lie", (
        _with(why=FLP),
        _with("eventual_bound", bound="byzantine_replicas"),
        _with("lots", bound="byzantine_replicas"),
    )),
    Task("agreement", "longest time until all have decided, although f of n stop", (
        _with(why=FLP),
        _with("delay_bound", bound="agreement_rounds"),
    )),
    Task("steps", "reads and writes of shared registers until all processes have decided", (
        _with(why="M. Loui and H. Abu-Amara 1987: no rule without lots decides in all runs"),
        _with("lots", bound="randomised_agreement_steps"),
    )),
    Task("read", "longest time of a linearizable read", (
        _with(bound="linearizable_read"),
        _with("clock", why="a copy may answer at once: H. Attiya and J. Welch, TOCS 12(2), 1994", value=0.0),
    )),
    Task("one_round_reads", "fewest servers of a register that is read in one round although f stop", (
        _with(bound="one_round_read_servers"),
        _with("delay_bound", bound="surviving_replicas"),
    )),
    Task("write", "longest time of a linearizable write", (
        _with(bound="linearizable_write"),
        _with("clock", why="a write may end at once: H. Attiya and J. Welch, TOCS 12(2), 1994", value=0.0),
    )),
    Task("read_and_write", "longest read and longest write together", (
        _with(bound="sequential_consistency"),
        _with("clock", bound="sequential_consistency"),
    )),
    Task("commit", "messages of one commit that a stop cannot block", (
        _with(bound="commit_messages"),
        _with("delay_bound", bound="commit_messages_timed"),
    )),
    Task("clocks", "largest difference of two clocks", (
        _with(bound="clock_synchronisation"),
        _with("multicast", why="receivers compare: J. Elson, L. Girod and D. Estrin, OSDI 2002", value=0.0),
    )),
    Task("far_clocks", "largest difference of clocks at the ends of a path of links", (
        _with(bound="clock_skew_path"),
        _with("multicast", why="receivers compare: J. Elson, L. Girod and D. Estrin, OSDI 2002", value=0.0),
    )),
    Task("near_clocks", "largest difference of two linked clocks in a network, whose correction has a bounded rate", (
        _with(bound="neighbour_skew"),
        _with("multicast", why="receivers compare: J. Elson, L. Girod and D. Estrin, OSDI 2002", value=0.0),
    )),
    Task("messages_among_liars", "messages of one agreement although f may lie or be silent", (
        _with(bound="byzantine_messages"),
        _with("delay_bound", bound="byzantine_messages"),
    )),
    Task("whole_answer", "messages before an answer that more data may take back", (
        _with(bound="answers_heard"),
        _with("delay_bound", why="who has something to say has said it by then", value=0.0),
    )),
    Task("read_over_shards", "rounds of a read of several shards that never waits for writes", (
        _with(bound="read_rounds"),
        _with("old_answers", why="each shard answers from an older snapshot: H. Lu et al., OSDI 2016", value=1.0),
    )),
    Task("partition", "longest time of an answer, from the beginning of a partition", (
        _with(bound="partition_answer_time"),
        _with("clock", bound="partition_answer_time"),
        _with("one_side", why="the other side is not answered: S. Gilbert and N. Lynch 2002", value=0.0),
        _with("old_answers", why="each side answers from its copy: S. Gilbert and N. Lynch 2002", value=0.0),
    )),
)  # fmt: skip


@dataclass(frozen=True)
class ModelFloorValue:
    """A cell at inputs: `low` holds whatever they are; `missing`: inputs that its bound needs."""

    cell: ModelFloor
    low: Number | None
    missing: tuple[str, ...] = ()

    @property
    def bound(self) -> Bound | None:
        """Returns the bound of the cell, if one gives its number."""
        return entry(self.cell.bound).bound if self.cell.bound else None


def cell_value(cell: ModelFloor, spans: Mapping[str, Span]) -> ModelFloorValue:
    """Returns the number of a cell at these inputs, or what it needs.  Raises UsageError."""
    if not cell.bound:
        return ModelFloorValue(cell, cell.value)
    bound = entry(cell.bound).bound
    missing = tuple(name for name in bound.names if name not in spans)
    if missing:
        return ModelFloorValue(cell, None, missing)
    return ModelFloorValue(cell, over(bound, {name: spans[name] for name in bound.names}).low)


def symbols(tasks: tuple[Task, ...] = TASKS) -> Mapping[str, str]:
    """Returns the inputs of all tasks, each with a bound that has it."""
    named = [cell.bound for task in tasks for cell in task.cells if cell.bound]
    return {symbol.name: name for name in reversed(named) for symbol in entry(name).bound.symbols}
