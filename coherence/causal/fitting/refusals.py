"""Says in words why a coefficient is not identified, and which measurement might help where no signal is latent."""

from __future__ import annotations

from collections.abc import Sequence

from coherence.causal.fitting.gram import Column
from coherence.causal.fitting.identification_problem import IdentificationProblem, lasting_latents


def reason(problem: IdentificationProblem, effect: str, lost: Sequence[Column]) -> str:
    """Returns why the columns are not identified, in a user's words: one clause for each kind of trouble."""
    lasting = lasting_latents(problem, effect)
    back: list[str] = []
    between: dict[str, list[str]] = {}
    shared: dict[str, list[str]] = {}
    rest: list[str] = []
    past = ""
    for cause in dict.fromkeys(name for name, _ in lost):
        hidden = ", ".join(sorted(_hidden_behind(problem, cause) & _hidden_behind(problem, effect)))
        if cause != effect and effect in _sources_now(problem, cause):
            back.append(cause)
        elif cause == effect:
            past = f"what {effect} keeps of its past and what keeps acting on it look alike"
        elif cause in lasting:
            between.setdefault(", ".join(lasting[cause]), []).append(cause)
        elif hidden:
            shared.setdefault(hidden, []).append(cause)
        else:
            rest.append(cause)
    reasons = [f"{_and(back)} and {effect} act on each other within one step: which moved first cannot be seen"] * bool(
        back
    )
    reasons += [
        f"{_and(c)} {_act(c)} on {effect} through {h}, which is not measured and keeps its past"
        for h, c in between.items()
    ]
    reasons += [f"{_and(c)} and {effect} have a common cause that is not measured: {h}" for h, c in shared.items()]
    reasons += [past] * bool(past)
    reasons += [f"{_and(rest)} cannot be told apart from what else acts on {effect}"] * bool(rest)
    return "; ".join(reasons)


def _and(names: Sequence[str]) -> str:
    return " and ".join(names)


def _act(names: Sequence[str]) -> str:
    return "act" if len(names) > 1 else "acts"


def _hidden_behind(problem: IdentificationProblem, name: str) -> frozenset[str]:
    return frozenset(problem.graph.ancestors(name)) - problem.observed - {name}


def _sources_now(problem: IdentificationProblem, name: str) -> set[str]:
    """Returns what acts on a signal within the same step, through any way."""
    sources: set[str] = set()
    waiting = [name]
    while waiting:
        fresh = {cause for cause, _, lag in problem.into.get(waiting.pop(), ()) if lag == 0} - sources
        sources |= fresh
        waiting += fresh
    return sources


def other_help(problem: IdentificationProblem, effect: str, lost: Sequence[Column]) -> tuple[str, ...]:
    """Returns what to measure besides latent signals: a finer step, or something that acts on one cause alone."""
    back = [cause for cause, _ in lost if cause != effect and effect in _sources_now(problem, cause)]
    if back:
        often = f"{back[0]} and {effect} at a finer step, more often than they act on each other"
        return often, f"something that acts on {back[0]} and not on {effect}"
    return (f"something that acts on {lost[0][0]}, and on {effect} through it alone",)
