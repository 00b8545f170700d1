"""Decides whether evictors and a placer undo each other: after every eviction the placer answers.

Several evictors of one thing are one relation: whoever's trigger holds may act next.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial

from coherence.language.expressions.evaluate import evaluate
from coherence.language.expressions.tree import Arithmetic, Call, Choose, Compare, Held, Logic, Name, Tree, rename, walk
from coherence.model.model import Interval
from coherence.verify.facts.ranges import Values, truth
from coherence.verify.jobs.order_words import SteadyState
from coherence.verify.jobs.placing import (
    Counts,
    canonical,
    canonical_edges,
    domain_of,
    domains,
    empty,
    name_of,
    places,
    put,
    spots,
    total,
)
from coherence.verify.jobs.random_ties import Draws, lasting_part
from coherence.verify.jobs.sites import Cluster
from coherence.verify.jobs.state_graph import StateGraph, StateStep, components, explore, round_trip, trapped

CERTAIN, POSSIBLE, NONE, IDLE, BLOCKED, UNKNOWN = "certain", "possible", "none", "idle", "blocked", "unknown"
WAITS = "waits"
FULLER, EMPTIER = "<", ">"  # comparisons of a count that a fuller, or an emptier, place ends
MOST_STATES = 6000
MOVE = "move"


@dataclass(frozen=True)
class Evictor:
    """Evicts one of `thing` while `trigger` holds; `labels` are those by which the trigger counts it."""

    thing: str
    trigger: Tree
    labels: tuple[str, ...]
    name: str = ""

    @property
    def packs(self) -> bool:
        """Returns whether only fuller places end it (`count of web by node < 4`): it takes from an emptiest one."""
        return set(_ended_by(self.trigger, {counted(self.thing, by) for by in self.labels})) == {FULLER}


@dataclass(frozen=True)
class Chase:
    """The verdict for one number of members on one cluster; `cycle` goes round in `graph` where it was explored."""

    verdict: str
    graph: StateGraph[Counts] | None = None
    cycle: tuple[StateStep[Counts], ...] = ()
    first: Counts | None = None
    draws: Draws | None = None  # of a placer that chooses at random, where its choice brings it to rest


def evictor(thing: str, condition: Tree, name: str = "") -> Evictor | None:
    """Returns the evictor of a trigger that counts the thing by place; None where it does not."""
    tree = condition.condition if isinstance(condition, Held) else condition
    labels = tuple(
        dict.fromkeys(
            node.arguments[1].path for node in walk(tree)
            if isinstance(node, Call) and node.function == "count by" and node.arguments[0] == Name(thing)
            and isinstance(node.arguments[1], Name)
        )
    )  # fmt: skip
    return Evictor(thing, _named(tree), labels, name) if labels else None


def _ended_by(tree: Tree, counts: set[str], *, denied: bool = False) -> Iterator[str]:
    """Yields for each comparison of a count with something whether a fuller or an emptier place ends it."""
    match tree:
        case Logic(op="not", terms=terms):
            for term in terms:
                yield from _ended_by(term, counts, denied=not denied)
        case Logic(terms=terms):
            for term in terms:
                yield from _ended_by(term, counts, denied=denied)
        case Compare(op=op, left=left, right=right):
            for side, below in ((left, FULLER), (right, EMPTIER)):
                if any(isinstance(part, Name) and part.path in counts for part in walk(side)):
                    yield FULLER if (op[0] == below) is not denied else EMPTIER
        case _:
            return


def counted(thing: str, by: str) -> str:
    """Returns the name that stands for `count of thing by label` in the evictor's trigger."""
    return f"{thing}.most_by_{by}"


def _named(tree: Tree) -> Tree:
    """Returns the tree with every `count of x by y` as a name."""
    match tree:
        case Call(function="count by", arguments=(Name(path=thing), Name(path=by))):
            return Name(counted(thing, by), tree.span)
        case Call(function=function, arguments=arguments, span=span):
            return Call(function, tuple(_named(part) for part in arguments), span)
        case Arithmetic(op=op, left=left, right=right, span=span):
            return Arithmetic(op, _named(left), _named(right), span)
        case Compare(op=op, left=left, right=right, span=span):
            return Compare(op, _named(left), _named(right), span)
        case Logic(op=op, terms=terms, span=span):
            return Logic(op, tuple(_named(part) for part in terms), span)
        case Choose(condition=condition, then=then, otherwise=otherwise, span=span):
            return Choose(_named(condition), _named(then), _named(otherwise), span)
        case Held(condition=condition):
            return _named(condition)
        case _:
            return rename(tree, lambda path: path)


def acts(evicts: Evictor, there: Cluster, state: Counts, constants: Mapping[str, Fraction]) -> bool:
    """Decides whether the trigger holds in a state.  Raises NeedsError for a name without a value."""
    most = fullest(evicts, there, state)
    return bool(evaluate(evicts.trigger, SteadyState(lambda path: most.get(path, constants.get(path)))))


def fullest(evicts: Evictor, there: Cluster, state: Counts) -> dict[str, Fraction]:
    """Returns the members of the fullest domain by each label of the trigger, by the name that the trigger reads."""
    return {counted(evicts.thing, by): Fraction(max(domains(there, state, by), default=0)) for by in evicts.labels}


def always_acts(
    evicts: Evictor, there: Cluster, members: int, constants: Values, *, or_more: bool = False
) -> bool | None:
    """Decides whether the trigger holds (or fails) for every placement of so many members; None: it depends.

    The fullest of D domains has at least members / D, rounded up.  `or_more`: of so many members, or of more.
    """
    ones = tuple((1,) * site.number for site in there.sites)
    most = None if or_more else Fraction(members)
    spans = {
        counted(evicts.thing, by): Interval(Fraction(-(-members // len(domains(there, ones, by)))), most)
        for by in evicts.labels
    }
    return truth(evicts.trigger, {**constants, **spans})


def points(constants: Mapping[str, Fraction]) -> dict[str, Interval]:
    """Returns numbers as intervals."""
    return {path: Interval(number, number) for path, number in constants.items()}


def acts_on_more(evicts: Sequence[Evictor], there: Cluster, members: int, constants: Mapping[str, Fraction]) -> bool:
    """Decides whether some trigger holds for so many members and any more, wherever they lie.

    Its answer hangs on no number of members but the counted ones, and each more has a place: one that is emptiest.
    """
    thing = evicts[0].thing
    fixed = points({path: number for path, number in constants.items() if path.partition(".")[0] != thing})
    taken = all(site.room is None for site in there.sites) and len(there.musts) <= 1
    if not taken or any(rule.together or rule.capped for rule in there.musts):
        return False
    return any(always_acts(one, there, members, fixed, or_more=True) for one in evicts)


def chase(
    evicts: Sequence[Evictor],
    there: Cluster,
    members: int,
    constants: Mapping[str, Fraction],
    *,
    beside: Sequence[Evictor] = (),
) -> Chase:
    """Decides whether evictors and placer undo each other for ever; `certain`: from some placement on, always.

    `possible`: some answers do.  `none`: it comes to rest.  `idle`: it never acts.  `blocked`: not all can be placed.
    Who may act all the time does so some day, those `beside` too, whose acts are not followed; `waits`: what goes
    round otherwise ends when one does.
    """
    decided = {one: always_acts(one, there, members, points(constants)) for one in evicts}
    active = [one for one, always in decided.items() if always is None]
    acting = True in decided.values()
    if not (acting or active):
        return Chase(IDLE)
    first = _placed(there, members) if acting else None
    if first is not None:
        return Chase(CERTAIN, first=first)
    if not acting and all(settles(one, there, members, constants) for one in active):
        return Chase(NONE)
    placed = explore([canonical(there, empty(there))], lambda s: _fill(there, s, members), most=MOST_STATES)
    if not placed.complete:
        return Chase(UNKNOWN, placed)
    starts = [state for state in placed.edges if total(state) == members]
    if not starts:
        return Chase(BLOCKED, placed)
    if acting:
        return Chase(CERTAIN, first=starts[0])
    graph = explore(starts, lambda s: canonical_edges(there, moves(active, there, s, constants)), most=MOST_STATES)
    if not graph.complete:
        return Chase(UNKNOWN, graph)
    if any(acts(one, there, state, constants) for state in graph.quiet for one in active):
        return Chase(BLOCKED, graph)
    return _of_graph(graph, active, beside, there, constants)


def _of_graph(
    graph: StateGraph[Counts], evicts: Sequence[Evictor], beside: Sequence[Evictor], there: Cluster,
    constants: Mapping[str, Fraction],
) -> Chase:  # fmt: skip
    """Returns the verdict of all that may happen; a placer that chooses at random ends what some answers end."""

    def lasts(states: Sequence[Counts]) -> bool:
        return _lasts(states, evicts, beside, there, constants)

    judged, chance = _judged(graph, lasts), there.random and (there.summed or there.weighed)
    if chance and (judged.verdict == POSSIBLE or judged.graph is None):
        draws = _draws(evicts, there, graph, constants)
        lasting = lasting_part(graph, draws)
        if not lasting.edges:
            return Chase(NONE, graph, draws=draws)
        judged = _judged(graph, lasts, lasting)
    return judged if judged.graph is not None else Chase(WAITS, graph)


def _lasts(
    states: Sequence[Counts], evicts: Sequence[Evictor], beside: Sequence[Evictor], there: Cluster,
    constants: Mapping[str, Fraction],
) -> bool:  # fmt: skip
    """Decides whether a run may stay in these states though each evictor acts that may do so all the time."""
    inside = set(states)
    if len(evicts) + len(beside) == 1:
        return True
    for evictor_ in (*evicts, *beside):
        if all(acts(evictor_, there, state, constants) for state in states):
            steps = (canonical_edges(there, moves([evictor_], there, state, constants)) for state in states)
            if evictor_ in beside or not any(edge.to in inside for edges in steps for edge in edges):
                return False
    return True


def settles(evicts: Evictor, there: Cluster, members: int, constants: Mapping[str, Fraction]) -> bool:
    """Decides whether a placer that evens out nodes alike always brings the trigger to rest.

    Where it acts, the fullest node has more than members / nodes rounded up, so at least two more than the emptiest,
    to which the member goes: the sum of squares falls with every round.
    """
    if len(there.sites) != 1 or len(there.rules) != 1 or len(evicts.labels) != 1 or not there.each:
        return False
    site, rule, by = there.sites[0], there.rules[0], evicts.labels[0]
    least = -(-members // site.number)
    even = by not in site.labels and rule.by not in site.labels and not rule.together and rule.at_most == 1
    even = even and not (there.likes or rule.capped)
    if not even or site.most > site.number or (site.room is not None and site.room < least):
        return False
    level = {counted(evicts.thing, by): Fraction(least)}
    return not evaluate(evicts.trigger, SteadyState(lambda path: level.get(path, constants.get(path))))


def _fill(there: Cluster, state: Counts, members: int) -> list[StateStep[Counts]]:
    return canonical_edges(there, places(there, state)) if total(state) < members else []


def _placed(there: Cluster, members: int) -> Counts | None:
    """Returns a placement of all members, each on the emptiest place that takes it; None where one is refused."""
    state = empty(there)
    for _ in range(members):
        options = [edge.to for edge in places(there, state)]
        if not options:
            return None
        state = min(options, key=lambda s: sorted((held for nodes in s for held in nodes), reverse=True))
    return state


def _draws(
    evicts: Sequence[Evictor], there: Cluster, graph: StateGraph[Counts], constants: Mapping[str, Fraction]
) -> Draws:
    """Returns for each state, and each member that may be evicted in it, the states that the placer may answer with."""
    draws: dict[Counts, tuple[tuple[Counts, ...], ...]] = {}
    for state in graph.edges:
        taken = (spot for one in evicts for spot in victims(one, there, state, constants))
        answers = (places(there, put(state, k, n, -1), wishes=True) for k, n in taken)
        each = (tuple(dict.fromkeys(canonical(there, edge.to) for edge in edges)) for edges in answers)
        draws[state] = tuple(filter(None, each))
    return draws


def _judged(
    graph: StateGraph[Counts], lasts: Callable[[Sequence[Counts]], bool], lasting: StateGraph[Counts] | None = None
) -> Chase:
    """Returns the verdict of a graph; without a graph where it goes round, but nowhere where a run may last.

    `lasting`: the part of the graph in which a run that lasts stays, where not all of it is that.
    """
    if all(not edges for edges in graph.edges.values()):
        return Chase(IDLE, graph)
    caught = set(trapped(graph))
    within = lasting or graph
    every = sorted(components(within), key=lambda states: states[0] not in caught)
    rounds = [states for states in every if lasts(states)]
    if not rounds:
        return Chase(NONE, None if every else graph)
    first = next(state for state in graph.edges if state in set(rounds[0]))
    cycle = tuple(round_trip(within, first, set(rounds[0])))
    return Chase(CERTAIN if first in caught else POSSIBLE, graph, cycle, first)


def moves(
    evicts: Sequence[Evictor], there: Cluster, state: Counts, constants: Mapping[str, Fraction], *, every: bool = False
) -> Iterator[StateStep[Counts]]:
    """Yields each eviction, with each answer of the placer (within the musts, by its wishes)."""
    for evictor_ in evicts:
        by = f" by {evictor_.name}" if len(evicts) > 1 else ""
        for k, n in victims(evictor_, there, state, constants, every=every):
            for edge in places(there, put(state, k, n, -1), wishes=True, every=every):
                yield StateStep(MOVE, partial(_moved, there, k, n, edge, by), edge.to)


def victims(
    evicts: Evictor, there: Cluster, state: Counts, constants: Mapping[str, Fraction], *, every: bool = False
) -> Iterator[tuple[int, int]]:
    """Yields the nodes from which an evictor takes one, while its trigger holds: those of a fullest place.

    One that packs takes from a place that is emptiest, of those with members.
    """
    if not acts(evicts, there, state, constants):
        return
    taken = {by: _end_of(evicts, domains(there, state, by)) for by in evicts.labels}
    for k, n in spots(state, every=every):
        if state[k][n] > 0 and any(domain_of(there, state, by, k, n) == taken[by] for by in evicts.labels):
            yield k, n


def _end_of(evicts: Evictor, counts: Sequence[int]) -> int:
    return min((held for held in counts if held), default=0) if evicts.packs else max(counts)


def _moved(there: Cluster, k: int, node: int, edge: StateStep[Counts], by: str) -> str:
    return f"one is evicted{by} from {name_of(there, k, node)} and {edge.text}"


def needs_of(evicts: Evictor, constants: Mapping[str, Fraction]) -> str | None:
    """Returns the first name of the trigger without a value."""
    from coherence.language.expressions import names

    own = {counted(evicts.thing, by) for by in evicts.labels}
    return next((path for path in names(evicts.trigger) if path not in own and path not in constants), None)
