"""Writes where the next member may go as SMT-LIB over integers, for a solver to re-check."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from fractions import Fraction

from coherence.findings.question_input import Certificate
from coherence.language.expressions.tree import Logic
from coherence.language.sentences import Spread
from coherence.model.model import Interval
from coherence.verify.facts.range_claims import claimed
from coherence.verify.facts.ranges import Values
from coherence.verify.jobs.certificates import ranked
from coherence.verify.jobs.eviction import Evictor, counted
from coherence.verify.jobs.placement import Placement
from coherence.verify.jobs.placing import Counts, domains, total
from coherence.verify.jobs.sites import Cluster
from coherence.verify.jobs.state_graph import StateGraph, ranks

MOST_TERMS = 3000


def always_a_place(cluster: Cluster, outcome: Placement, high: int) -> str | None:
    """Returns a script: in every state that was reached with fewer than `high` members some place may take one more."""
    states = [state for state in outcome.graph.edges if total(state) < high]
    if any(site.most > site.number for site in cluster.sites):
        return None
    return places_for_all([(cluster, states)])


def places_for_all(cases: Sequence[tuple[Cluster, Collection[Counts]]]) -> str | None:
    """Returns a script: on each cluster, in each of its states, some place may take one more; None where it is long."""
    nodes = [sum(site.number for site in there.sites) for there, _ in cases]
    terms = sum(number * len(states) for number, (_, states) in zip(nodes, cases, strict=True))
    if terms > MOST_TERMS or max(nodes, default=0) > 60:
        return None
    functions, claims = list[str](), list[str]()
    for k, (there, states) in enumerate(cases):
        names = variables(there)
        body = " ".join(may_take(there, node) for node in range(len(names)))
        arguments = " ".join(f"({name} Int)" for name in names)
        functions.append(f"(define-fun place{k} ({arguments}) Bool (or false {body}))\n")
        claims += [f"(place{k} {' '.join(str(n) for n in flat(state))})" for state in states]
    lines = "\n  ".join(claims)
    return f"(set-logic QF_LIA)\n{''.join(functions)}(assert (not (and true\n  {lines}\n)))\n(check-sat)\n"


def no_place(cluster: Cluster, state: Counts) -> str:
    """Returns a script: in this state no place may take one more."""
    names = variables(cluster)
    lets = " ".join(f"({name} {held})" for name, held in zip(names, flat(state), strict=True))
    body = " ".join(may_take(cluster, k) for k in range(len(names)))
    return f"(set-logic QF_LIA)\n(assert (let ({lets}) (or false {body})))\n(check-sat)\n"


def no_solution(cluster: Cluster, count: int) -> str:
    """Returns a script: so many members cannot meet all musts, however they are placed (unsat where it is so)."""
    names = variables(cluster)
    rows = [f"(declare-const {name} Int)" for name in names]
    rows += [f"(assert (>= {name} 0))" for name in names]
    rooms = [site.room for site in cluster.sites for _ in range(site.number)]
    rows += [f"(assert (<= {name} {room}))" for name, room in zip(names, rooms, strict=True) if room is not None]
    rows += [f"(assert (= {_sum(names)} {count}))"]
    for rule in cluster.musts:
        parts = [_sum(names_) for names_ in _domains(cluster, rule)]
        if rule.together:
            alone = (f"(= {part} {count})" for part in parts)
            rows.append(f"(assert (or false {' '.join(alone)}))")
        else:
            rows += [
                f"(assert (<= (- {part} {other}) {rule.at_most}))" for part in parts for other in parts if part != other
            ]
    return "(set-logic QF_LIA)\n" + "\n".join(rows) + "\n(check-sat)\n"


def variables(cluster: Cluster) -> list[str]:
    """Returns one name per node, class by class."""
    return [f"n{k}_{n}" for k, site in enumerate(cluster.sites) for n in range(site.number)]


def flat(state: Counts) -> list[int]:
    """Returns the members of each node, class by class."""
    return [held for nodes in state for held in nodes]


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


def never_acts(evicts: Sequence[Evictor], cluster: Cluster, members: int, constants: Values) -> str | None:
    """Returns a script: wherever the members are, each trigger fails (one of D domains has at least members / D)."""
    ones = tuple((1,) * site.number for site in cluster.sites)
    spans = {
        counted(one.thing, by): Interval(Fraction(-(-members // len(domains(cluster, ones, by)))), Fraction(members))
        for one in evicts for by in one.labels
    }  # fmt: skip
    fail = tuple(Logic("not", (one.trigger,)) for one in evicts)
    claim = fail[0] if len(fail) == 1 else Logic("and", fail)
    return claimed(claim, {**constants, **spans}, whole=frozenset(spans))


def comes_to_rest(cluster: Cluster, graph: StateGraph[Counts], kind: str) -> str | None:
    """Returns a script: a rank falls with every step of this kind; None where it is too long."""
    steps = [(flat(state), flat(e.to)) for state, edges in graph.edges.items() for e in edges if e.kind == kind]
    rank = ranks(graph, (kind,))
    names = variables(cluster)
    if rank is None or len(steps) * len(names) > MOST_TERMS:
        return None
    vectors = {tuple(flat(state)): number for state, number in rank.items()}
    return ranked(vectors, [(tuple(one), tuple(other)) for one, other in steps], names)


def levels_out(cluster: Cluster, members: int) -> str:
    """Returns a script: a node above members / nodes (rounded up) has at least two more than the emptiest one.

    `f` is the fullest node, `e` the emptiest: the others have at least `e` each.
    """
    nodes = cluster.nodes
    facts = (f"(> f {-(-members // nodes)})", f"(<= (+ f (* {nodes - 1} e)) {members})", "(>= e 0)")
    return Certificate({"f": "Int", "e": "Int"}, facts, "(>= f (+ e 2))").script().replace("QF_LIRA", "QF_LIA", 1)
