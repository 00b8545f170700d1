"""Writes where the next member may go as SMT-LIB over integers, for a solver to re-check."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction

from coherence.findings.question_input import Certificate
from coherence.language.expressions.tree import Logic
from coherence.language.sentences import Spread
from coherence.model.model import Interval
from coherence.verify.facts.range_claims import claimed
from coherence.verify.facts.ranges import Values
from coherence.verify.jobs.certificates import all_joined, flat, ranked, steps_of
from coherence.verify.jobs.eviction import MOVE, Chase, Evictor, always_acts, counted, fullest, points
from coherence.verify.jobs.placement import Placement
from coherence.verify.jobs.placing import Counts, able, additions, domains, total
from coherence.verify.jobs.random_ties import nearer_by_chance
from coherence.verify.jobs.sites import Cluster

MOST_TERMS = 1_000_000


def always_a_place(tried: Sequence[tuple[Cluster, Placement]], high: int) -> str | None:
    """Returns a script: in every state that was reached with fewer than `high` members some place may take one more.

    Where none of the stated places may, one that a loop adds does.
    """
    cases = dict[tuple[int, ...], tuple[Cluster, list[Counts]]]()
    for variant, (there, outcome) in enumerate(tried):
        for state in outcome.graph.edges:
            if total(state) < high:
                after = _with_a_place(there, state)
                numbers = tuple(map(len, after))
                cases.setdefault((variant, *numbers), (_of_numbers(there, numbers), []))[1].append(after)
    return places_for_all(list(cases.values()))


def _with_a_place(there: Cluster, state: Counts) -> Counts:
    """Returns the state; after places were added one by one until one of them takes a member, where none does."""
    waiting = [state]
    for here in waiting:
        if able(_of_numbers(there, tuple(map(len, here))), here):
            return here
        waiting += [edge.to for edge in additions(there, here)]
    return state


def _of_numbers(there: Cluster, numbers: Sequence[int]) -> Cluster:
    """Returns a cluster with so many places of each class."""
    sites = zip(there.sites, numbers, strict=True)
    return replace(there, sites=tuple(replace(site, number=number) for site, number in sites))


def places_for_all(cases: Sequence[tuple[Cluster, Collection[Counts]]]) -> str | None:
    """Returns a script: on each cluster, in each of its states, some place may take one more; None where it is long."""
    functions, claims, terms = dict[tuple[int, int], str](), list[str](), 0
    for k, (there, states) in enumerate(cases):
        names = variables(there)
        arguments = " ".join(f"({name} Int)" for name in names)
        for state in states:
            node = _first_able(there, state)
            if (k, node) not in functions:
                body = may_take(there, node)
                functions[k, node] = f"(define-fun place{k}_{node} ({arguments}) Bool {body})\n"
            claims.append(f"(place{k}_{node} {' '.join(map(str, flat(state)))})")
            terms += len(names)
            if terms > MOST_TERMS:
                return None
    lines = "\n  ".join(claims)
    return f"(set-logic QF_LIA)\n{''.join(functions.values())}(assert (not (and true\n  {lines}\n)))\n(check-sat)\n"


def _first_able(there: Cluster, state: Counts) -> int:
    """Returns the number of a node that may take one more; of the first node where none may."""
    k, node = next(iter(able(there, state)), (0, 0))
    return sum(len(nodes) for nodes in state[:k]) + node


def variables(cluster: Cluster) -> list[str]:
    """Returns one name per node, class by class."""
    return [f"n{k}_{n}" for k, site in enumerate(cluster.sites) for n in range(site.number)]


def may_take(cluster: Cluster, node: int) -> str:
    """Returns the term: one more member on this node is within its room and every must."""
    names = variables(cluster)
    rooms = [site.room for site in cluster.sites for _ in range(site.number)]
    room = [f"(< {names[node]} {rooms[node]})"] if rooms[node] is not None else []
    terms = [term for rule in cluster.musts for term in _must_terms(cluster, rule, names[node])]
    return f"(and true {' '.join([*room, *terms])})"


def _must_terms(cluster: Cluster, rule: Spread, name: str) -> Iterator[str]:
    groups = _domains(cluster, rule)
    own = next(group for group in groups if name in group)
    if rule.capped:
        yield f"(<= (+ {_sum(own)} 1) {rule.at_most})"
        return
    for other in groups:
        if other is not own:
            yield (
                f"(= {_sum(other)} 0)" if rule.together else f"(<= (- (+ {_sum(own)} 1) {_sum(other)}) {rule.at_most})"
            )


def _domains(cluster: Cluster, rule: Spread) -> list[list[str]]:
    """Returns the variables of each domain of a rule."""
    groups: dict[str, list[str]] = {}
    for k, site in enumerate(cluster.sites):
        for n in range(site.number):
            groups.setdefault(site.labels.get(rule.by, f"{k} {n}"), []).append(f"n{k}_{n}")
    return list(groups.values())


def _sum(names: list[str]) -> str:
    return names[0] if len(names) == 1 else f"(+ {' '.join(names)})"


def comes_to_rest(
    evicts: Sequence[Evictor], there: Cluster, members: int, outcome: Chase, constants: Mapping[str, Fraction]
) -> str | None:
    """Returns a script: moves of these members come to an end, and where they do no trigger holds."""
    values = points(constants)
    idle = [evictor for evictor in evicts if always_acts(evictor, there, members, values) is False]
    active = [evictor for evictor in evicts if evictor not in idle]
    scripts = [_never_acts(evictor, there, members, values) for evictor in idle]
    if outcome.graph is not None:
        falls = ranked(steps_of(outcome.graph, (MOVE,))) if outcome.draws is None else nearer_by_chance(outcome.draws)
        scripts.append(falls)
        for evictor in active:
            ends = {tuple(fullest(evictor, there, state).items()) for state in outcome.graph.quiet}
            scripts += [
                claimed(Logic("not", (evictor.trigger,)), {**values, **points(dict(end))}) for end in sorted(ends)
            ]
    elif active:
        scripts += [script for evictor in active for script in _levels_out(evictor, there, members, values)]
    return all_joined(scripts)


def _never_acts(evicts: Evictor, there: Cluster, members: int, values: Values) -> str | None:
    """Returns a script: wherever the members are, the trigger fails (one of D domains has at least members / D)."""
    ones = tuple((1,) * site.number for site in there.sites)
    spans = {
        counted(evicts.thing, by): Interval(Fraction(-(-members // len(domains(there, ones, by)))), Fraction(members))
        for by in evicts.labels
    }
    return claimed(Logic("not", (evicts.trigger,)), {**values, **spans}, whole=frozenset(spans))


def _levels_out(evicts: Evictor, there: Cluster, members: int, values: Values) -> tuple[str | None, str]:
    """Returns scripts: the trigger fails where the fullest node has members / nodes (rounded up), the least it may.

    Above that it has at least two more than the emptiest one, to which the member goes.  `f` is the fullest node, `e`
    the emptiest: the others have at least `e` each.
    """
    least = -(-members // there.nodes)
    facts = (f"(> f {least})", f"(<= (+ f (* {there.nodes - 1} e)) {members})", "(>= e 0)")
    script = Certificate({"f": "Int", "e": "Int"}, facts, "(>= f (+ e 2))").script().replace("QF_LIRA", "QF_LIA", 1)
    level = points({counted(evicts.thing, by): Fraction(least) for by in evicts.labels})
    return claimed(Logic("not", (evicts.trigger,)), {**values, **level}), script
