"""Applies bounds on tokens to the agents of a design, and bounds on lookups to what its requests ask several times."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from math import prod

from coherence.language.design import Design
from coherence.minimums.bound import Application
from coherence.minimums.facts import Gathered, constant
from coherence.verify.calls.call_graph import CallTree, call_tree
from coherence.verify.calls.paths import Way, Ways, heaviest, lightest, ways
from coherence.verify.calls.retry_policies import copies_of_try


def runs(design: Design) -> Iterator[Application]:
    """Yields every agent that calls a model in turns (part `agent_loop`)."""
    for component in design.components.values():
        turns = constant(component, "turns")
        first, added = constant(component, "first_tokens"), constant(component, "tokens_per_turn")
        if turns is not None and first is not None:
            gathered = Gathered(component.name).span("calls", turns.low + 1, turns.high + 1)
            gathered.places.append(turns.place.labelled("turns"))
            gathered.quantity("first", first, "first_tokens")
            yield gathered.quantity("added", added, f"tokens_per_turn of {component.name}").application()


def lookups(design: Design) -> Iterator[Application]:
    """Yields everything that one request of a workload asks twice or more, even where no try fails."""
    if not design.workload or not design.calls:
        return
    tree = call_tree(design)
    for workload in design.workload:
        for thing in dict.fromkeys(plan.callee for plan in tree.plans):
            routes = ways(tree, workload, thing)
            if not routes.cyclic and not routes.cut and (fewest := _fewest(tree, routes)) > 1:
                gathered = Gathered(f"{workload} -> {thing}").span("needed", Fraction(1))
                most = _most(tree, routes)
                if most is None:
                    gathered.needs("lookups", "how often each call is tried at most")
                else:
                    gathered.span("lookups", fewest, most)
                ends = [way[-1].call.callee for way in routes.ways]
                gathered.places += [end.place.labelled("asked here") for end in ends if end is not None]
                yield gathered.application()


def _fewest(tree: CallTree, routes: Ways) -> Fraction:
    """Returns how often a request asks where no try fails, in the case that asks least."""
    return Fraction(len(lightest(tree, dict.fromkeys(routes.ways, 1)))) if routes.ways else Fraction(0)


def _most(tree: CallTree, routes: Ways) -> Fraction | None:
    """Returns how often it asks where every try fails, in the case that asks most."""
    sizes: dict[Way, int] = {}
    for way in routes.ways:
        tries = [plan.tries for plan in way]
        if None in tries:
            return None
        sizes[way] = prod(count for count in tries if count is not None) * prod(copies_of_try(p.call) for p in way)
    return Fraction(sum(sizes[way] for way in heaviest(tree, sizes)))
