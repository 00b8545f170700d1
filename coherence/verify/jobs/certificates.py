"""Writes certificates of explored relations: an integer rank that falls with every step, for a solver to re-check."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import TypeVar

from coherence.base.graphs import components
from coherence.base.solver import joined
from coherence.findings.question_input import Certificate, rational
from coherence.verify.jobs.contest import Contest, State
from coherence.verify.jobs.job_states import holding, is_leaving
from coherence.verify.jobs.state_graph import StateGraph

S = TypeVar("S")
LASTING = "; states of one rank: some go round only while the same members are leaving, and those go some day"


def all_joined(scripts: Iterable[str | None]) -> str | None:
    """Returns scripts as one, each once; None where one is missing."""
    distinct = dict.fromkeys(scripts)
    return joined(script for script in distinct if script is not None) if None not in distinct else None


def flat(state: tuple[tuple[int, ...], ...]) -> tuple[int, ...]:
    """Returns the numbers of a state, kind by kind: of each job, or of each node."""
    return tuple(number for row in state for number in row)


def falling(graph: StateGraph[State], kinds: Collection[str]) -> str | None:
    """Returns a script: no step of these kinds raises a rank over the states, and a round of one rank cannot last.

    In such a round members of one kind are leaving all the time and none of them goes.  None where no rank is there.
    """
    return ranked(steps_of(graph, kinds), _leaving_throughout)


def steps_of(graph: StateGraph[S], kinds: Collection[str]) -> dict[S, list[S]]:
    """Returns the states that steps of these kinds lead to, by the state that they leave."""
    return {state: [edge.to for edge in edges if edge.kind in kinds] for state, edges in graph.edges.items()}


def ranked(
    steps: Mapping[S, Collection[S]], throughout: Callable[[Sequence[S]], Mapping[S, int] | None] = lambda _: None
) -> str | None:
    """Returns a script: a rank falls with every step from one state to another, but for rounds that cannot last.

    `throughout` gives what is left to be done in each state of a round: above 0 and never less; None: it may last.
    """
    rank, claims = dict[S, int](), list[str]()
    for number, group in enumerate(components(steps)):
        rank |= dict.fromkeys(group, number)
        inside = [(state, to) for state in group for to in steps.get(state, ()) if rank[to] == number]
        left = throughout(group) if inside else {}
        if left is None:
            return None
        claims += [f"(and (< 0 {left[one]}) (= {left[one]} {left[to]}))" for one, to in inside]
    names = {state: f"s{n}" for n, state in enumerate(rank)}
    falls = [f"(> {names[a]} {names[b]})" for a, after in steps.items() for b in after if rank[a] != rank[b]]
    numbers = [f"(define-fun {name} () Int {rank[state]}) ; {state}" for state, name in names.items()]
    return _all_hold([*falls, *claims], [*([LASTING] if claims else []), *numbers])


def _all_hold(claims: Sequence[str], definitions: Sequence[str]) -> str:
    lines = ["(set-logic QF_LIA)", *definitions, "(assert (not (and true", *(f"  {claim}" for claim in claims), ")))"]
    return "\n".join([*lines, "(check-sat)"]) + "\n"


def _leaving_throughout(states: Sequence[State]) -> dict[State, int] | None:
    """Returns the members of one kind that are leaving in each of these states, where they are always the same."""
    for k in range(len(states[0])):
        left = {state: sum(holding(job) for job in state[k] if is_leaving(job)) for state in states}
        if min(left.values()) == max(left.values()) > 0:
            return left
    return None


def saturated(contest: Contest) -> str | None:
    """Returns a script: all jobs together need no more than there is; None where they do."""
    if contest.caps or contest.pools or any(contest.total(r) > amount for r, amount in contest.capacity.items()):
        return None
    claims = (f"(<= {rational(contest.total(r))} {rational(amount)})" for r, amount in contest.capacity.items())
    return Certificate(claim=f"(and true {' '.join(claims)})").script()


def standing(contest: Contest, graph: StateGraph[State]) -> str:
    """Returns a script: in no quiet state that was reached does a job hold a part of what it waits for."""
    held = {
        (kind.barrier, holding(job))
        for state in graph.quiet for kind, jobs in zip(contest.kinds, state, strict=True) for job in jobs
    }  # fmt: skip
    claims = [f"(not (waits {members} {least}))" for least, members in sorted(held)]
    waits = "(define-fun waits ((held Int) (least Int)) Bool (and (< 0 held) (< held least)))"
    return _all_hold(claims, [waits])
