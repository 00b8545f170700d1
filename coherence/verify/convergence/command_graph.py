"""Follows every value that loops can give their commands, whoever acts when: all come to rest, or none ever can.

A node is one value of each command, an edge a change that some loop may make there: of whatever a look may see (a value
of the past, a state, what varies, how long a condition has held), of whatever a window or a rate lets through.

Derivation of rest: loops write one after another, and what is written is seen at once, so a run is a path in the graph,
in any order of samples, with any phases, periods and cooldowns.  A window of `hold_down` gives the highest of the
recommendations within it, this one included, and at most the command: a value between both.  A rate gives one between
the command and the recommendation.  Where commands are whole, these are finitely many.  A graph of finitely many nodes
without a cycle has no endless path.  Of a command that lands later a look sees any value that it may have.

Derivation of no rest: let the commands stand still for ever at a node.  Then what looks back, however far, sees that
node, a condition that holds has held for long enough, a window holds recommendations on one side of the command, and a
cooldown is over.  So a loop whose condition holds there and whose law gives another value writes it after all.  Where
that is so at each node, commands change for ever; they have finitely many values, so one of them turns for ever.  What
loops outside a group write may go on changing meanwhile: it is any of its values beside those of the group.

Limit cases: one loop that sets one value has one edge into it; two loops that undo each other have a cycle, and no node
without a way on.  With a constant of a range each look takes any value of it: its range is halved where that decides
nothing, and a part that holds the whole of two ways is left open.  A state may
have any value of its range at a look.  Where its flow takes it to an end whatever the commands are, changes after that
are followed from every node; while commands stand still it goes where they take it (`state_limits`).
"""

from __future__ import annotations

import itertools
from collections import ChainMap
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

from coherence.base.graphs import components
from coherence.base.solver import joined, unsat
from coherence.findings.question_input import Certificate, rational
from coherence.language.expressions import names
from coherence.language.expressions.evaluate import NotExactError
from coherence.language.expressions.lower_smt import lower_smt
from coherence.language.expressions.tree import Compare, Number, Tree, rename
from coherence.language.words import MEMBERS
from coherence.model.laws import ZERO
from coherence.model.model import EVERYTHING, Interval, Model, SampledLoop
from coherence.simulate.execute.open_ranges import one_ended
from coherence.simulate.execute.slices import modes_read
from coherence.simulate.execute.starts import integers
from coherence.verify.convergence.command_changes import CommandChange, changes_of, holds_at, recommended, values_given
from coherence.verify.convergence.expression_looks import IDLE, at_any_look, at_rest, ranges_at_looks
from coherence.verify.convergence.state_limits import limits_of
from coherence.verify.facts.ranges import enclosure, hull, point, with_ranges
from coherence.verify.facts.satisfiability import SatQuery

HOW = "every value that loops can give their commands, in any order, with any phases"
LAWS = ("step", "set", "rules", "proportional")
ANY_TIME = ("`phase`", "`period`", "`cooldown`", "`rank`")  # of these, any value makes a path of the same graph
MOST_NODES, MOST_EDGES, MOST_PARTS, MOST_CLAIMS = 3_000, 16_000, 64, 12_000
MOST_TEXT = 2_000_000  # characters of a certificate
CHECK_MS = 2_000
A_SCRIPT = 300  # claims of one script

Node = tuple[Fraction, ...]


@dataclass(frozen=True)
class GraphAnswer:
    """What the graph shows: `rests` (where commands may stay at last; none: they never rest), of how many nodes.

    `fixed`: open constants that are taken as one number each; `limits`: states that drift to an end of their range.
    `script`: a certificate, where one is written.
    """

    signals: tuple[str, ...]
    rests: tuple[Node, ...]
    count: int
    script: str | None = None
    fixed: tuple[str, ...] = ()
    limits: tuple[str, ...] = ()

    @property
    def assumptions(self) -> tuple[str, ...]:
        """Returns what open constants are taken for."""
        return tuple(f"{path} is one unknown constant of its range" for path in self.fixed)


def follow_commands(model: Model, loops: Sequence[SampledLoop], late: Callable[[], bool]) -> GraphAnswer | None:
    """Returns whether all commands of a model, which these loops and what they read need, come to rest or never do.

    None where the graph does not decide it, has too many nodes, or a fact is read at one end of its range.
    """
    at_one_end = any(not fact.startswith(ANY_TIME) for fact in one_ended(model))
    if at_one_end or modes_read(model) & {loop.name for loop in loops}:
        return None
    acting = [loop for loop in model.loops if loop.law not in IDLE]
    if not acting or any(loop.law not in LAWS for loop in acting):
        return None
    try:
        return _answer(model, acting, [loop.signal for loop in loops], late)
    except NotExactError:
        return None


def _answer(
    model: Model, acting: Sequence[SampledLoop], own: Sequence[str], late: Callable[[], bool]
) -> GraphAnswer | None:
    whole = _Graph(model, acting, {}, late)
    if (settled := _settled(whole)) is not None:
        return settled
    if not whole.ends():
        if (drifted := _after_drifts(whole)) is not None:
            return drifted
        if not whole.stand_still(own):
            return GraphAnswer(whole.signals, (), len(whole.edges))
    return _in_parts(whole)


def _settled(graph: _Graph, before: Sequence[str] = (), limits: Sequence[str] = ()) -> GraphAnswer | None:
    """Returns that no change of a graph can come again; None where one may, or no certificate is written."""
    script = graph.script() if graph.ends() else None
    if script is None:
        return None
    rests = tuple(graph.rests())
    return GraphAnswer(graph.signals, rests, len(graph.edges), joined([*before, script]), limits=tuple(limits))


def _after_drifts(whole: _Graph) -> GraphAnswer | None:
    """Returns that no change can come again once states are where their flows take them; None where that shows none."""
    limits, shown = whole.drifts() if whole.flows else ({}, [])
    if not limits:
        return None
    return _settled(_Graph(whole.model, whole.acting, limits, whole.late, tuple(whole.edges)), shown, tuple(limits))


def _in_parts(whole: _Graph) -> GraphAnswer | None:
    """Returns where commands rest for each value of open constants: their ranges are halved until each part ends."""
    fixed = {path: c.range for path, c in whole.model.constants.items() if not (c.varies or c.range.exact)}
    if not fixed or any(r.low is None or r.high is None for r in fixed.values()):
        return None
    waiting, parts, answers = [fixed], 0, list[GraphAnswer]()
    while waiting:
        part, parts = waiting.pop(), parts + 1
        graph = _Graph(whole.model, whole.acting, part, whole.late)
        if (settled := _settled(graph)) is not None:
            answers.append(settled)
        elif not graph.ends():
            waiting += _halves(part)
        else:
            return None
        if waiting and (parts == MOST_PARTS or whole.late()):
            return None
    scripts = [answer.script or "" for answer in answers]
    if sum(map(len, scripts)) > MOST_TEXT:
        return None
    rests, count = {node for answer in answers for node in answer.rests}, sum(answer.count for answer in answers)
    return GraphAnswer(whole.signals, tuple(sorted(rests)), count, joined(scripts), tuple(fixed))


def _halves(part: Mapping[str, Interval]) -> Iterator[dict[str, Interval]]:
    """Yields both halves of the widest of the ranges."""
    widest = max(part, key=lambda path: _relative_width(part[path]))
    low, high = part[widest].low, part[widest].high
    assert low is not None
    assert high is not None
    middle = (low + high) / 2
    yield {**part, widest: Interval(low, middle)}
    yield {**part, widest: Interval(middle, high)}


def _relative_width(span: Interval) -> Fraction:
    assert span.low is not None
    assert span.high is not None
    return (span.high - span.low) / (max(abs(span.low), abs(span.high)) or Fraction(1))


@dataclass
class _Graph:
    """The nodes that are reached from every start, and the changes at each, with some constants in given ranges."""

    model: Model
    acting: Sequence[SampledLoop]
    part: Mapping[str, Interval]
    late: Callable[[], bool]
    starts: Sequence[Node] = ()  # those of the design, where none are given
    edges: dict[Node, set[Node]] = field(default_factory=dict)
    changes: tuple[tuple[CommandChange, ...], ...] = ()  # of each loop
    given: dict[tuple[object, ...], tuple[bool | None, tuple[Fraction, ...]]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.signals = tuple(self.model.commands)
        self.known = ranges_at_looks(self.model, self.part)
        landing = any(loop.lands for loop in self.acting)
        if landing and any(loop.law == "proportional" for loop in self.acting):
            raise NotExactError("a proportional law counts from what landed")
        self.changes = tuple(tuple(changes_of(self.model, loop, past=landing)) for loop in self.acting)
        self.flows = {p: s.flow for p, s in self.model.states.items() if s.flow is not None and s.switch is None}
        self.reading = {id(change): self._positions(change) for change in itertools.chain(*self.changes)}
        self._reach()

    def _positions(self, change: CommandChange) -> tuple[int, ...]:
        """Returns where the commands stand in a node that a change reads, its own among them."""
        trees = (tree for tree in change.seen if tree is not None)
        read = {change.loop.signal, *itertools.chain.from_iterable(map(names, trees))}
        return tuple(n for n, path in enumerate(self.signals) if path in read)

    def _reach(self) -> None:
        """Adds each node that changes lead to.  Raises NotExactError where there are too many."""
        stated = () if self.starts else itertools.product(*(_starts(self.model, path) for path in self.signals))
        waiting = list(itertools.islice(itertools.chain(self.starts, stated), MOST_NODES + 1))
        total = 0
        while waiting:
            node = waiting.pop()
            if node in self.edges:
                continue
            after = self.edges[node] = set(self._after(node))
            total += len(after)
            if len(self.edges) > MOST_NODES or total > MOST_EDGES or self.late():
                raise NotExactError("too many values, or too late")
            waiting += after

    def _values(self, node: Node) -> Mapping[str, Interval]:
        return ChainMap(dict(zip(self.signals, map(point, node), strict=True)), self.known)

    def _after(self, node: Node) -> Iterator[Node]:
        """Yields the nodes to which one change of a loop may lead."""
        for changes in self.changes:
            for change in changes:
                at = self.signals.index(change.loop.signal)
                holds, given = self._given(change, node, at)
                for value in given:
                    if value != node[at]:
                        yield (*node[:at], value, *node[at + 1 :])
                if holds and change.loop.rules:
                    break  # the first rule that holds acts, and no other one

    def _given(self, change: CommandChange, node: Node, at: int) -> tuple[bool | None, tuple[Fraction, ...]]:
        """Returns whether a change comes at a node, and what it may write: the same where what it reads is the same."""
        key = (id(change), *(node[n] for n in self.reading[id(change)]))
        if key not in self.given:
            values = self._values(node)
            holds = holds_at(change.seen, values)
            given = () if holds is False else tuple(values_given(self.model, change, values, node[at]))
            self.given[key] = holds, given
        return self.given[key]

    def ends(self) -> bool:
        """Decides whether no change can come again: no node is reached from itself."""
        return all(len(part) == 1 for part in components(self.edges))

    def drifts(self) -> tuple[dict[str, Interval], list[str]]:
        """Returns where states are at last whatever the commands are, with the scripts that show it."""
        flows = {path: at_any_look(self.model, flow, past=True) for path, flow in self.flows.items()}
        limits, scripts = limits_of(self.model, flows, self.known), list[str]()
        for path in limits:
            known = with_ranges(self.known, {other: limit for other, limit in limits.items() if other != path})
            span = enclosure(flows[path], known)
            against = Compare("<=" if span.low is not None and span.low > 0 else ">=", flows[path], ZERO)
            ranges = {name: known.get(name, EVERYTHING) for name in names(flows[path])}
            scripts.append(SatQuery((against,), ranges, frozenset()).script())
        return (limits, scripts) if all(unsat(script, timeout_ms=CHECK_MS).unsat for script in scripts) else ({}, [])

    def rests(self) -> list[Node]:
        """Returns the nodes at which commands may stand still: no loop is known to go on."""
        return sorted(node for node in self.edges if not self._any_goes_on([node], self.signals))

    def stand_still(self, own: Sequence[str]) -> bool:
        """Decides whether these commands may stand still, at one value each, whatever the others do meanwhile."""
        alike, at = dict[Node, list[Node]](), [n for n, path in enumerate(self.signals) if path in own]
        for node in self.edges:
            alike.setdefault(tuple(node[n] for n in at), []).append(node)
        return not all(self._any_goes_on(nodes, own) for nodes in alike.values())

    def _any_goes_on(self, nodes: Sequence[Node], own: Sequence[str]) -> bool:
        """Decides whether a loop that writes one of these commands, alike at all nodes, is known to go on."""
        spans = (hull(map(point, ends)) for ends in zip(*nodes, strict=True))
        values = ChainMap(dict(zip(self.signals, spans, strict=True)), self.known)
        return any(
            self._goes_on(changes, values) for changes in self.changes if changes and changes[0].loop.signal in own
        )

    def _goes_on(self, changes: Sequence[CommandChange], values: Mapping[str, Interval]) -> bool:
        loop = changes[0].loop
        if loop.rates or loop.mode != "always":
            return False  # it may have written all that it ever writes
        if self.flows:
            flows = {path: at_rest(self.model, flow) for path, flow in self.flows.items()}
            values = with_ranges(values, limits_of(self.model, flows, values))
        now, limits = values[loop.signal].low, self.model.commands[loop.signal].range
        assert now is not None
        for change in changes:
            holds = holds_at(change.still, values)
            if holds:
                if loop.law == "proportional" and loop.bounds.clip(now) != now:
                    return limits.clip(loop.bounds.clip(now)) != now
                wanted = recommended(change.formula, change.still, values, now)
                low = wanted.low is not None and limits.clip(loop.bounds.clip(wanted.low)) > now
                high = wanted.high is not None and limits.clip(loop.bounds.clip(wanted.high)) < now
                return low or high
            if holds is None:
                return False
        return False

    def script(self) -> str | None:
        """Returns the certificate: what each loop gives at each node, and that each change leads down an order.

        None where it is long, or something has no term.
        """
        order = {node: n for n, (node,) in enumerate(components(self.edges))}
        if len(order) * (1 + 2 * len(self.acting)) > MOST_CLAIMS:
            return None
        claims: list[str] = []
        try:
            for node, after in self.edges.items():
                highest = max((order[other] for other in after), default=-1)
                claims += [f"(> {rational(order[node])} {rational(highest)})", *self._claims(node)]
        except NotExactError:
            return None
        parts = [claims[n : n + A_SCRIPT] for n in range(0, len(claims), A_SCRIPT)]
        return joined([Certificate(claim=f"(and true {' '.join(part)})").script() for part in parts])

    def _claims(self, node: Node) -> Iterator[str]:
        """Yields what conditions and laws are at a node, where each is one number."""
        values = self._values(node)
        numbers: dict[str, Tree] = {path: Number(i.low) for path, i in values.items() if i.exact and i.low is not None}
        for change in itertools.chain.from_iterable(self.changes):
            holds = holds_at(change.seen, values)
            when, read, _ = change.seen
            if when is not None and holds is not None and numbers.keys() >= set(names(when)):
                condition = lower_smt(_filled(when, numbers))
                yield condition if holds else f"(not {condition})"
            if holds and read is not None and numbers.keys() >= set(names(read)):
                span = enclosure(read, values)
                if span.exact and span.low is not None:
                    yield f"(= {lower_smt(_filled(read, numbers))} {rational(span.low)})"


def _filled(tree: Tree, numbers: Mapping[str, Tree]) -> Tree:
    return rename(tree, lambda path: numbers[path])


def _starts(model: Model, path: str) -> list[Fraction]:
    """Returns the values with which a command may begin: where none is stated, members are whole.

    Raises NotExactError where they are not finitely many.
    """
    command = model.commands[path]
    if command.initial.exact and command.initial.low is not None:
        return [command.initial.low]
    return integers(path, command.initial, integer=command.integer and path.rpartition(".")[2] in MEMBERS)
