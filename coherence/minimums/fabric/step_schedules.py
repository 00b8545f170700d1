"""Decides with a solver whether every member can have every shard after so many steps, as SMT-LIB text.

In one step each wire carries at most `links` times `rounds` shards, each of which its sender held before the step.
Unsatisfiable below and satisfiable at a number of steps: that is the minimum, and the model is a schedule.

SOURCE: Z. Cai et al., "Synthesizing optimal collective algorithms", PPoPP 2021.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

from coherence.base import solver
from coherence.base.errors import UsageError
from coherence.minimums.fabric.wiring import Fabric


@dataclass(frozen=True)
class Sent:
    """A shard that a wire carries in a step (from 1)."""

    step: int
    source: str
    target: str
    shard: str


def script(fabric: Fabric, steps: int, *, rounds: int = 1) -> str:
    """Satisfiable where an all-gather of one shard a member takes `steps` steps; rates count links."""
    names = {name: k for k, name in enumerate(fabric.nodes)}
    lines = ["(set-logic QF_LIA)"]
    for shard in fabric.names:
        for name, k in names.items():
            lines += [f"(declare-const h{names[shard]}_{k}_{step} Bool)" for step in range(steps + 1)]
            first = f"h{names[shard]}_{k}_0"
            lines.append(f"(assert {first if name == shard else f'(not {first})'})")
    for step in range(1, steps + 1):
        lines += _step(fabric, names, step, rounds)
    for shard in fabric.names:
        lines += [f"(assert h{names[shard]}_{names[name]}_{steps})" for name in fabric.names]
    return "\n".join([*lines, "(check-sat)"]) + "\n"


def _step(fabric: Fabric, names: dict[str, int], step: int, rounds: int) -> Iterator[str]:
    """A shard is held from when it arrived; it arrives over a wire whose source held it before."""
    arriving: dict[tuple[int, int], list[str]] = {}
    for (source, target), links in _links(fabric).items():
        sender, other = names[source], names[target]
        sent = [f"s{names[shard]}_{sender}_{other}_{step}" for shard in fabric.names]
        yield from (f"(declare-const {name} Bool)" for name in sent)
        room = links * rounds
        if room < len(sent):
            yield f"(assert (<= (+ {' '.join(f'(ite {name} 1 0)' for name in sent)}) {room}))"
        for shard, name in zip(fabric.names, sent, strict=True):
            yield f"(assert (=> {name} h{names[shard]}_{sender}_{step - 1}))"
            arriving.setdefault((names[shard], other), []).append(name)
    for shard in fabric.names:
        for k in names.values():
            ways = " ".join([f"h{names[shard]}_{k}_{step - 1}", *arriving.get((names[shard], k), ())])
            yield f"(assert (= h{names[shard]}_{k}_{step} (or {ways} false)))"


def _links(fabric: Fabric) -> dict[tuple[str, str], int]:
    rates: dict[tuple[str, str], Fraction] = {}
    for wire in fabric.wires:
        rates[wire.source, wire.target] = rates.get((wire.source, wire.target), Fraction(0)) + wire.rate
    if any(rate.denominator != 1 for rate in rates.values()):
        raise UsageError(f"a schedule in steps counts links: give {fabric.name} whole rates")
    return {step: int(rate) for step, rate in rates.items()}


def decided(made: Fabric, steps: int, *, rounds: int = 1, timeout_ms: int = 5000) -> solver.SolverAnswer:
    """unsat: there is no schedule; sat: the model is one."""
    return solver.unsat(script(made, steps, rounds=rounds), timeout_ms=timeout_ms)


@dataclass(frozen=True)
class Fewest:
    """No schedule has fewer than `steps` (each script of `below` is unsatisfiable); `sent` is one that has."""

    steps: int
    sent: tuple[Sent, ...]
    below: tuple[str, ...]


def fewest(fabric: Fabric, *, rounds: int = 1, most: int = 12, timeout_ms: int = 5000) -> Fewest:
    """Returns the fewest steps of an all-gather, proved.  Raises UsageError where the solver does not decide it in
    time.
    """
    below: list[str] = []
    for steps in range(hops(fabric), most + 1):
        answer = decided(fabric, steps, rounds=rounds, timeout_ms=timeout_ms)
        if answer.outcome is solver.Outcome.SAT:
            return Fewest(steps, schedule(fabric, answer), tuple(below))
        if not answer.unsat:
            raise UsageError(f"whether {fabric.name} needs more than {steps} steps is not decided: {answer.reason}")
        below.append(script(fabric, steps, rounds=rounds))
    raise UsageError(f"{fabric.name} needs more than {most} steps: give a larger `most`")


def schedule(fabric: Fabric, answer: solver.SolverAnswer) -> tuple[Sent, ...]:
    """Returns the schedule in a model."""
    nodes = fabric.nodes
    sent = []
    for line in answer.model.splitlines():
        name, _, value = line.partition(" = ")
        if name.startswith("s") and value == "True":
            shard, source, target, step = (int(part) for part in name[1:].split("_"))
            sent.append(Sent(step, nodes[source], nodes[target], nodes[shard]))
    return tuple(sorted(sent, key=lambda one: (one.step, one.source, one.target, one.shard)))


def executed(fabric: Fabric, sent: Sequence[Sent], *, rounds: int = 1) -> int:
    """Returns how many steps until every member has every shard.  Raises AssertionError for a schedule that cannot be
    run.
    """
    held = {name: {name} & set(fabric.names) for name in fabric.nodes}
    links = _links(fabric)
    for step in range(1, max((one.step for one in sent), default=0) + 1):
        now = [one for one in sent if one.step == step]
        for send in now:
            if send.shard not in held[send.source]:
                raise AssertionError(f"{send.source} sends the shard of {send.shard} in step {step} before it has it")
        for wire, room in links.items():
            if sum((one.source, one.target) == wire for one in now) > room * rounds:
                raise AssertionError(f"{wire} carries too much in step {step}")
        for send in now:
            held[send.target].add(send.shard)
        if all(held[name] == set(fabric.names) for name in fabric.names):
            return step
    raise AssertionError("the schedule does not finish")


def hops(made: Fabric) -> int:
    """Returns the most wires that lie between two members, by the shortest way: no schedule has fewer steps."""
    return max(_hops(made, name) for name in made.names)


def _hops(fabric: Fabric, start: str) -> int:
    after: dict[str, list[str]] = {}
    for wire in fabric.wires:
        after.setdefault(wire.source, []).append(wire.target)
    far, layer, wanted = {start: 0}, [start], set(fabric.names) - {start}
    while wanted and layer:
        layer = [other for other in dict.fromkeys(o for node in layer for o in after.get(node, ())) if other not in far]
        depth = max(far.values()) + 1
        far.update(dict.fromkeys(layer, depth))
        wanted -= far.keys()
    if wanted:
        raise UsageError(f"{fabric.name} is not connected: no path of wires leads from {start} to {min(wanted)}")
    return max(far[name] for name in fabric.names)
