"""Conditions that no state fulfils within the stated ranges, and rules behind rules that always win."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction

from coherence.base import units
from coherence.base.number_text import render_quantity
from coherence.base.places import Place
from coherence.findings.finding import Finding, Repair, Step
from coherence.findings.question_input import Question, Subject, arithmetic
from coherence.language.design import Limit, Loop
from coherence.language.expressions import names as used
from coherence.language.expressions import walk
from coherence.language.expressions.evaluate import NotExactError
from coherence.language.expressions.tree import Compare, Held, Name, Number, Tree, rename
from coherence.language.names import loop_formulas
from coherence.language.schema_kinds import Formula, Quantity
from coherence.language.workloads import Workload
from coherence.model.model import EVERYTHING, Interval
from coherence.verify.actions.loop_directions import loop_trigger, seen
from coherence.verify.facts import satisfiability
from coherence.verify.facts.design_facts import DesignFacts
from coherence.verify.facts.limits import cap, place_of
from coherence.verify.facts.ranges import Values, enclosure, truth
from coherence.verify.facts.satisfiability import SatQuery as Asked
from coherence.verify.facts.satisfiability import at_other_times, opposite
from coherence.verify.facts.state_ranges import stated, whole
from coherence.verify.patterns.design._dead_values import is_clipped
from coherence.verify.systems.literals import plainly_possible

MEANT_TO_FILL = ("wait", "reject", "evict and redo")


def answers(ask: Question, subject: Subject, facts: DesignFacts) -> Iterator[Finding]:
    """Yields one answer per condition of a loop that never holds."""
    values: Values | None = None
    for loop in subject.design.loops.values():
        trigger = loop_trigger(loop)
        if (trigger is None and not loop.rules) or _sees_more(loop):
            continue
        values = reachable(subject, facts) if values is None else values
        if trigger is not None:
            yield from _trigger(ask, subject, facts, loop, trigger, values)
        yield from _rules(ask, subject, facts, loop, values)


def absences(ask: Question, subject: Subject, facts: DesignFacts) -> Iterator[Finding]:
    """Yields a proof per loop whose trigger, and each of whose rules where no earlier one wins, holds in some state
    within the ranges, and whose bounds let through each value that it sets.

    Beside bursts nothing is said of a condition that must last: how long it does is another matter.
    """
    values = reachable(subject, facts) if subject.design.loops else {}
    bursts = any(workload.burst for workload in subject.design.workload.values())
    for loop in subject.design.loops.values():
        lasting = bursts and any(isinstance(node, Held) for f in loop_formulas(loop) for node in walk(f.tree))
        states = None if lasting or _sees_more(loop) or is_clipped(loop) else _states(facts, loop, values)
        if states:
            readings = "; ".join(f"{formula} may hold" for formula, _, _ in states)
            steps = [Step(None, f"{formula}: {_at(state)}") for formula, _, state in states]
            places = [formula.place.labelled("holds in a state within the ranges") for formula, _, _ in states]
            evidence = arithmetic(
                {}, witness=steps, certificate=_script([(query, state) for _, query, state in states])
            )
            yield ask.absent(f"within what {loop.name} reads {readings}", places, (loop.name,), evidence)


def _states(
    facts: DesignFacts, loop: Loop, values: Values
) -> list[tuple[Formula, Asked, satisfiability.SatState]] | None:  # fmt: skip
    """Returns a state within the ranges for each condition of a loop; None where one of them has none that is known."""
    trigger, earlier = loop_trigger(loop), list[Tree]()
    conditions: list[tuple[Formula, tuple[Tree, ...]]] = []
    if trigger is not None:
        conditions.append((trigger, (seen(facts, loop, trigger.tree),)))
    for rule in (rule for rule in loop.rules if rule.when is not None):
        assert rule.when is not None
        tree = seen(facts, loop, rule.when.tree)
        conditions.append((rule.when, (*map(opposite, earlier), tree)))
        earlier.append(tree)
    states = []
    for formula, trees in conditions:
        query = _query(facts, trees, values)
        try:
            state = satisfiability.solve_query(query)
        except NotExactError:
            return None
        if not isinstance(state, satisfiability.SatState):
            return None
        states.append((formula, query, state))
    return states


def _script(states: Sequence[tuple[Asked, satisfiability.SatState]]) -> str:
    """Returns SMT-LIB, unsat where the conditions of each query hold in its state; each has names of its own."""
    trees = [at_other_times(t, frozenset(), str(n)) for n, (query, _) in enumerate(states) for t in query.conditions]
    at = {f"{name}@{n}": value for n, (_, state) in enumerate(states) for name, value in state.at.items()}
    return Asked(tuple(trees), {}).state_script(satisfiability.SatState(at))


def _at(state: satisfiability.SatState) -> str:
    return ", ".join(f"{name} = {value}" for name, value in state.at.items()) or "in every state"


def _sees_more(loop: Loop) -> bool:
    """Returns whether a sensor sees what a limit keeps waiting."""
    return loop.target is not None and any(link.kind == "sees" for link in loop.target.sensor)


def reachable(subject: Subject, facts: DesignFacts) -> Values:
    """Returns what signals may be: stated ranges, with bursts and retries, states within their ends, counts up to a
    cap.
    """
    values = stated(facts)
    for workload in subject.design.workload.values():
        values |= _arrivals(subject, workload)
    if subject.design.components:
        values |= {p: s.range for p, s in subject.model.states.items() if s.range != EVERYTHING and p not in values}
    for path, limits in facts.counted.items():
        for limit in limits:
            high = facts.range(tree).high if _bounds(limit) and (tree := cap(facts, limit)) is not None else None
            if high is not None:
                values[path] = _capped(values.get(path, Interval(Fraction(0), None)), high)
    return values


def built_in(facts: DesignFacts, values: Values) -> Values:
    """Returns the ranges that the system gives itself (bounds, caps, states, members); what the world brings may be
    more.
    """
    own = set(facts.written) | set(facts.counted)
    members = (".copies", ".count")
    return {
        path: span if path in own or path not in facts.quantities or path.endswith(members) else _world(span)
        for path, span in values.items() if not path.endswith(".rate") or path in own
    }  # fmt: skip


def _world(span: Interval) -> Interval:
    """A value of the world keeps its sign."""
    return Interval(Fraction(0), None) if span.low is not None and span.low >= 0 else EVERYTHING


def _capped(span: Interval, high: Fraction) -> Interval:
    return Interval(span.low, high if span.high is None else min(span.high, high))


def _bounds(limit: Limit) -> bool:
    """Returns whether the count itself is held at the cap, at all times and as a whole."""
    partial = (limit.per, limit.scope, limit.window, limit.during)
    meant = limit.when_full is not None and limit.when_full.text in MEANT_TO_FILL
    return meant and not limit.actions and all(key is None for key in partial)


def _arrivals(subject: Subject, workload: Workload) -> dict[str, Interval]:
    """Returns the rate of a workload in calm and in bursts; retries come on top, as many as there may be."""
    if workload.rate is None:
        return {}
    stated = [workload.rate, *([workload.burst.rate] if workload.burst and workload.burst.rate else [])]
    switches = getattr(workload.arrivals, "switches", ())
    stated += [switch.rate for switch in switches if switch.rate is not None]
    retried = any(call.caller and call.caller.text == workload.name for call in subject.design.calls)
    high = None if retried else max(q.high for q in stated)
    return {f"{workload.name}.rate": Interval(min(q.low for q in stated), high)}


def _trigger(
    ask: Question, subject: Subject, facts: DesignFacts, loop: Loop, trigger: Formula, values: Values
) -> Iterator[Finding]:
    tree = seen(facts, loop, trigger.tree)
    if _impossible(facts, tree, values) and not _stated_alone(subject, facts, trigger.tree):
        message = f"{loop.name} never acts: {trigger} never holds"
        yield _dead(ask, subject, facts, loop, (trigger, tree), values, message)


def _rules(ask: Question, subject: Subject, facts: DesignFacts, loop: Loop, values: Values) -> Iterator[Finding]:
    earlier: list[tuple[Formula, Tree]] = []
    for rule in loop.rules:
        if rule.when is None:
            continue
        tree = seen(facts, loop, rule.when.tree)
        if _impossible(facts, tree, values):
            if not _stated_alone(subject, facts, rule.when.tree):
                message = f"a rule of {loop.name} never acts: {rule.when} never holds"
                yield _dead(ask, subject, facts, loop, (rule.when, tree), values, message)
        elif earlier and (winner := _always_wins(facts, earlier, tree, values)) is not None:
            yield _shadowed(ask, loop, rule.when, winner)
        earlier.append((rule.when, tree))


def _impossible(facts: DesignFacts, tree: Tree, values: Values) -> bool:
    """No state within the ranges: by intervals where they tell, else by the solver."""
    quick = truth(tree, values)
    if quick is not None:
        return not quick
    if all(values.get(name, EVERYTHING) == EVERYTHING for name in used(tree)) or plainly_possible(tree, values):
        return False
    return _refuted(facts, (tree,), values)


def _refuted(facts: DesignFacts, trees: tuple[Tree, ...], values: Values) -> bool:
    try:
        state = satisfiability.solve_query(_query(facts, trees, values))
    except NotExactError:
        return False
    return not isinstance(state, satisfiability.SatState) and state.unsat


def _query(facts: DesignFacts, trees: tuple[Tree, ...], values: Values) -> Asked:
    """Returns the question for a state within the ranges, now and before, in which all conditions hold."""
    spans = dict(values)
    for tree in trees:
        spans |= satisfiability.past_ranges(tree, values)
    return Asked(tuple(satisfiability.plain(tree, steady=False) for tree in trees), spans, whole(facts))


def _stated_alone(subject: Subject, facts: DesignFacts, tree: Tree) -> bool:
    """Returns whether the condition contradicts itself, or a constant that it reads by name (a vacuous design)."""
    full = rename(tree, lambda path: facts.bare.get(path, path))
    constants = {
        f"{component.name}.{key}": Interval(value.low, value.high)
        for component in subject.design.components.values()
        for key, value in component.constants.items() if isinstance(value, Quantity)
    }  # fmt: skip
    return _refuted(facts, (full,), {path: span for path, span in constants.items() if path not in facts.written})


def _always_wins(
    facts: DesignFacts, earlier: list[tuple[Formula, Tree]], tree: Tree, values: Values
) -> list[Formula] | None:
    """Returns the earlier rules one of which holds whenever this one does; None where it can come to act."""
    if not _refuted(facts, (*(opposite(one) for _, one in earlier), tree), values):
        return None
    needed = list(earlier)
    for candidate in list(earlier):
        fewer = [other for other in needed if other is not candidate]
        if fewer and _refuted(facts, (*(opposite(t) for _, t in fewer), tree), values):
            needed = fewer
    return [formula for formula, _ in needed]


def _shadowed(ask: Question, loop: Loop, rule: Formula, winners: list[Formula]) -> Finding:
    first = " or ".join(str(winner) for winner in winners)
    message = f"a rule of {loop.name} never acts: whenever {rule} holds, {first} holds too and comes first"
    places = (rule.place.labelled("never reached"), *(w.place.labelled("this rule always wins") for w in winners))
    steps = (Step(None, f"{rule} holds"), Step(None, f"so does {first}: the first true rule wins"))
    return ask.conflict(message, places, (loop.name,), arithmetic({}, witness=steps), certain=False)


def _dead(
    ask: Question, subject: Subject, facts: DesignFacts, loop: Loop, clause: tuple[Formula, Tree], values: Values,
    message: str,
) -> Finding:  # fmt: skip
    formula, tree = clause
    spans = [(n, s) for n in used(tree) if (s := values.get(n, EVERYTHING)) != EVERYTHING]
    reach = {str(side): span for side, span in _sides(tree, values)}
    numbers = {f"{name} {end}": (value, "") for name, span in spans for end, value in _ends(span)}
    numbers |= {f"reading {end}": (value, "") for span in list(reach.values())[:1] for end, value in _ends(span)}
    places = [formula.place.labelled("never holds")]
    places += [facts.places[name].labelled(f"{name} may be this") for name, _ in spans if name in facts.places]
    places += [place for name, _ in spans for place in _caps(facts, name)]
    if len(places) == 1:
        places.append(loop.place.labelled(f"so {loop.name} does nothing here"))
    ranges = "; ".join(f"{name} is {_shown(span, tree, name)}" for name, span in spans)
    steps = (Step(None, ranges or "whatever the state"), Step(None, f"{formula} does not hold"))
    evidence = arithmetic(numbers, witness=steps)
    if _guard(subject, loop) or not _impossible(facts, tree, built_in(facts, values)):
        return ask.note(f"{message} within the stated ranges", places, (loop.name,), evidence)
    return ask.conflict(
        message, places, (loop.name,), evidence, certain=False, repairs=_repairs(subject, formula, tree, values)
    )


def _caps(facts: DesignFacts, name: str) -> Iterator[Place]:
    for limit in facts.counted.get(name, ()):
        if _bounds(limit):
            yield place_of(limit.at_most, limit).labelled(f"{limit.name} holds {name} at this")


def _ends(span: Interval) -> Iterator[tuple[str, Fraction]]:
    yield from (("least", span.low),) if span.low is not None else ()
    yield from (("most", span.high),) if span.high is not None else ()


def _sides(tree: Tree, values: Values) -> Iterator[tuple[Tree, Interval]]:
    for node in walk(tree):
        if isinstance(node, Compare) and isinstance(node.right, Number):
            yield node.left, enclosure(node.left, values)


def _shown(span: Interval, tree: Tree, name: str) -> str:
    dimension = next(
        (n.right.dimension for n in walk(tree)
         if isinstance(n, Compare) and isinstance(n.right, Number) and n.left == Name(name)), units.ONE,
    )  # fmt: skip
    low = render_quantity(span.low, dimension) if span.low is not None else ""
    high = render_quantity(span.high, dimension) if span.high is not None else ""
    if low and high:
        return low if low == high else f"{low} to {high}"
    return f"at least {low}" if low else f"at most {high}"


def _guard(subject: Subject, loop: Loop) -> bool:
    """Returns whether a loop is promised never to act: then it is there for what should not happen."""
    promised = (p for p in subject.design.promises.values() if p.kind == "never" and p.condition is not None)
    return any(loop.name in used(p.condition.tree) for p in promised if p.condition is not None)


def _repairs(subject: Subject, formula: Formula, tree: Tree, values: Values) -> Iterator[Repair]:
    """Yields a threshold inside what the reading may be."""
    from coherence.findings import repairs

    if not isinstance(formula.tree, Compare) or not isinstance(formula.tree.right, Number):
        return
    assert isinstance(tree, Compare)
    span = enclosure(tree.left, values)
    if span.low is None or span.high is None or span.low == span.high:
        return
    middle = repairs.downward_round((span.low + span.high) / 2)
    number = formula.tree.right
    repair = repairs.proposal(repairs.rewrite(subject, formula.at(number.span), middle, number.dimension))
    yield from [repair] if repair else []
