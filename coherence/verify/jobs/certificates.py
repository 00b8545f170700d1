"""Writes certificates of explored relations: an integer rank that falls with every step, for a solver to re-check."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import TypeAlias

from coherence.findings.question_input import Certificate, rational
from coherence.verify.jobs.contest import Contest, State
from coherence.verify.jobs.state_graph import StateGraph, ranks

MOST_TERMS = 6000


def falling(contest: Contest, graph: StateGraph[State], kinds: Collection[str]) -> str | None:
    """Returns a script: a rank over the states falls with every step of these kinds; None where it is too long."""
    rank = ranks(graph, kinds)
    steps = [(state, e.to) for state, edges in graph.edges.items() for e in edges if e.kind in kinds]
    width = sum(kind.number for kind in contest.kinds)
    if rank is None or len(steps) * width > MOST_TERMS:
        return None
    pairs = [(flat(one), flat(other)) for one, other in steps]
    return ranked({flat(state): number for state, number in rank.items()}, pairs, [f"x{n}" for n in range(width)])


Vector: TypeAlias = tuple[int, ...]


def ranked(rank: Mapping[Vector, int], steps: Sequence[tuple[Vector, Vector]], names: Sequence[str]) -> str:
    """Returns a script: the rank of the first is above that of the second in every step."""
    if not steps:
        return Certificate(claim="true").script()
    body = "0"
    for state in dict.fromkeys(state for step in steps for state in step):
        same = " ".join(f"(= {name} {_integer(x)})" for name, x in zip(names, state, strict=True))
        body = f"(ite (and true {same}) {rank[state]} {body})"
    arguments = " ".join(f"({name} Int)" for name in names)
    claims = (f"(> (rank {_vector(one)}) (rank {_vector(other)}))" for one, other in steps)
    return (
        f"(set-logic QF_LIA)\n(define-fun rank ({arguments}) Int {body})\n"
         "(assert (not (and true\n  " + "\n  ".join(claims) + "\n)))\n(check-sat)\n"
    )  # fmt: skip


def flat(state: State) -> Vector:
    """Returns the members held by each job, kind by kind."""
    return tuple(held for jobs in state for held in jobs)


def _vector(state: Vector) -> str:
    return " ".join(_integer(x) for x in state)


def _integer(x: int) -> str:
    return str(x) if x >= 0 else f"(- {-x})"


def saturated(contest: Contest) -> str | None:
    """Returns a script: all jobs together need no more than there is; None where they do."""
    if contest.caps or contest.pools or any(contest.total(r) > amount for r, amount in contest.capacity.items()):
        return None
    claims = (f"(<= {rational(contest.total(r))} {rational(amount)})" for r, amount in contest.capacity.items())
    return Certificate(claim=f"(and true {' '.join(claims)})").script()


def standing(contest: Contest, graph: StateGraph[State]) -> str | None:
    """Returns a script: in no quiet state that was reached does a job hold a part of what it waits for."""
    names = [f"x{n}" for n in range(sum(kind.number for kind in contest.kinds))]
    barriers = [kind.barrier for kind in contest.kinds for _ in range(kind.number)]
    part = [f"(and (< 0 {name}) (< {name} {least}))" for name, least in zip(names, barriers, strict=True)]
    if len(graph.quiet) * len(names) > MOST_TERMS:
        return None
    claims = "\n  ".join(f"(not (waits {_vector(flat(state))}))" for state in graph.quiet)
    arguments = " ".join(f"({name} Int)" for name in names)
    return (
        f"(set-logic QF_LIA)\n(define-fun waits ({arguments}) Bool (or false {' '.join(part)}))\n"
        f"(assert (not (and true\n  {claims}\n)))\n(check-sat)\n"
    )
