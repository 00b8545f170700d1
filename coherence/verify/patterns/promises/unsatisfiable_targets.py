"""unsatisfiable targets: promises, limits and targets that no state keeps together.

## What
Writes every promise that must hold all the time (`always`, `never`, `eventually_always`), every limit, every claim
and the values at which proportional loops rest as conditions over constants and commands within their stated ranges,
and asks a solver for one state that fulfils all that share a signal.  Where there is none it names a smallest set of
demands that cannot be kept together, and the ranges without which they could.  Values of the past lie between two
states that keep the demands themselves; unknown constants may take any value of their range.  An upper bound on the
latency of a queue of the catalogue is the number of servers that it needs at the least (M/M/c); where nothing excludes
it, the promise on servers that runs can follow is asked for.

Boundary: a condition that contradicts itself, or another one word by word, is a `vacuous-design`; one limit or claim
against the ranges alone is `limit-against-demand` or `capacity-claims`; which promise a run breaks first is
`interacting-loops`, which also decides one promise against one loop's rest where both can be executed.

## Why it hurts
Every team keeps to its own number and the system cannot keep to all.  Tuning moves the failure from one dashboard to
the next.

## Example
```yaml
coherence: 1
components:
  gpus: {count: 16}
  chat: {work: 6, load: chat.work / (16 - batch.running)}
loops:
  share: {trigger: batch.queued > 0, actuation: {signal: batch.running, law: step, by: 1, bounds: [0, 15]}}
promises:
  tail: always chat.load <= 80 %
  floor: always batch.running >= 10
```

## Instead
A floor that leaves chat what it needs: `floor: always batch.running >= 8`.

## Source
The list of general conflicts: jointly unsatisfiable targets.  Minimal sets: Chinneck, Feasibility and Infeasibility
in Optimization (2008), chapter 2, deletion filter.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from fractions import Fraction
from operator import itemgetter

from coherence.base import units
from coherence.base.bisection import halved, whole_mean
from coherence.base.clock import is_over, now
from coherence.base.number_text import render_decimal, render_quantity
from coherence.base.places import Place
from coherence.base.solver import unsat
from coherence.findings import repairs
from coherence.findings.finding import Evidence, Finding, Grade, Repair, Step, Verdict
from coherence.findings.question_input import Question, Subject
from coherence.language.expressions import names as used
from coherence.language.expressions import walk
from coherence.language.expressions.evaluate import NotExactError
from coherence.language.expressions.tree import Call, Compare, Logic, Name, Number, Tree
from coherence.language.schema_kinds import Formula
from coherence.language.sentences import Promise
from coherence.verify.facts import satisfiability
from coherence.verify.facts.design_facts import DesignFacts, known
from coherence.verify.facts.satisfiability import SatQuery as Conditions
from coherence.verify.facts.state_ranges import stated, whole
from coherence.verify.patterns.promises._lasting_states import demand_groups, kept_together, lasting_state
from coherence.verify.patterns.promises._requirements import Requirement, full, requirements
from coherence.verify.queues.latencies import LatencyDemand, demands_in, enough, least

QUESTION = Question("COH231", "unsatisfiable-targets", "ai.04 runtime control coherence", proves=False)
QUESTIONS = (QUESTION,)
MOST = 60  # demands that share signals
MOST_COUNTED = 32  # a whole bound up to this is moved by ones
MOST_SETS = 4  # smallest sets that are told of one group
MOST_LOOKS = 200  # sets of demands of one group that are looked at


def ask(subject: Subject) -> Iterator[Finding]:
    """Yields one answer per smallest set of demands that no state keeps."""
    design = subject.design
    if len(design.promises) + len(design.limits) + len(design.claims) < 1 or not (design.loops or design.promises):
        return
    facts = known(subject)
    deadline = now() + subject.time_limit
    broken: set[str] = set()
    every = list(requirements(subject, facts))
    for group in demand_groups(every, facts):
        kinds = {one.kind for one in group}
        if "promise" in kinds or ("target" in kinds and len(kinds) > 1):
            for finding in _group(subject, facts, group, deadline):
                broken.update(finding.of if finding.verdict is Verdict.CONFLICT else ())
                yield finding
    rests = [one for one in every if one.kind == "target"]
    for promise in _on_latency(facts):
        settled = promise.kind == "eventually_always" and rests and _enough_at_rest(facts, promise, rests)
        if promise.name not in broken and not settled:  # whether they come to rest, the loops' own questions say
            yield _latency(facts, promise)


def absences(subject: Subject) -> Iterator[Finding]:
    """Yields a proof for each group of demands that a lasting state of the commands keeps."""
    return kept_together(QUESTION, subject)


def _on_latency(facts: DesignFacts) -> Iterator[Promise]:
    for promise in facts.design.promises.values():
        tree = promise.condition.tree if promise.condition is not None else None
        if tree is None or promise.kind not in ("always", "eventually_always"):
            continue
        if next(demands_in(facts, tree), None) is not None:
            yield promise


def _latency(facts: DesignFacts, promise: Promise) -> Finding:
    """Returns what the promise needs in numbers that runs carry: a latency is a distribution, which no run computes."""
    assert promise.condition is not None
    needs, of = [], [promise.name]
    for latency in demands_in(facts, promise.condition.tree):
        count, servers = enough(facts, latency), latency.latency.servers
        of.append(latency.latency.queue)
        needs.append(
            f"a promise on {servers} that runs can follow: "
            f"`{promise.kind} {servers} >= {count}` is enough for {promise.name}"
            if count is not None
            else f"{latency.latency.arrivals} and {latency.latency.rate} "
            f"with which some number of servers keeps {promise.name}"
        )
    return QUESTION.undecided(f"needs {' and '.join(needs)}", (promise.place,), tuple(dict.fromkeys(of)))


def _group(subject: Subject, facts: DesignFacts, group: list[Requirement], deadline: float) -> Iterator[Finding]:
    """Yields one finding per smallest set; sets may share demands, so each demand of a set is left out in turn."""
    if len(group) > MOST:
        yield _not_searched(group, f"{len(group)} demands share signals", f"{MOST} demands")
        return
    cores, open_, seen, reported = list[frozenset[int]](), [frozenset(range(len(group)))], set[frozenset[int]](), 0
    while open_:
        if is_over(deadline):
            yield _not_searched(group, "the time limit", "")
            return
        if len(seen) == MOST_LOOKS:
            yield _not_searched(group, "there are too many sets of them", f"{MOST_LOOKS} sets")
            return
        left = open_.pop(0)
        if left in seen:
            continue
        seen.add(left)
        core = next((core for core in cores if core <= left), None)
        if core is None:
            demands = [group[i] for i in sorted(left)]
            try:
                conditions = _conditions(facts, demands)
                chosen = satisfiability.core(conditions, least=range(len(demands)))
            except NotExactError as error:
                yield _not_searched(group, str(error), "")
                return
            if chosen is None:
                continue
            core = frozenset(sorted(left)[i] for i in chosen)
            cores.append(core)
            answers = list(_core_answer(subject, facts, conditions, [demands[i] for i in chosen], chosen))
            reported += bool(answers)
            if reported > MOST_SETS:
                yield _not_searched(group, "more sets of them cannot than are reported", f"{MOST_SETS} sets")
                return
            yield from answers
        open_ += [left - {one} for one in sorted(core)]


def _not_searched(group: list[Requirement], why: str, bound: str) -> Finding:
    """Returns that no state was sought for these demands, or not every set of them."""
    names = tuple(dict.fromkeys(demand.name for demand in group))
    needs = f"whether {len(group)} demands can be kept together: {why}"
    return QUESTION.undecided(needs, tuple(demand.place for demand in group[:3]), names, bound=bound)


def _core_answer(
    subject: Subject, facts: DesignFacts, conditions: Conditions, core: list[Requirement], chosen: tuple[int, ...]
) -> Iterator[Finding]:
    needed = _named(core, satisfiability.needed_ranges(conditions, chosen))
    ranges = tuple(dict.fromkeys(name for name in needed if name in facts.values))
    if _ours(core, ranges) and not _executed(subject, facts, core):
        yield _conflict(subject, facts, core, ranges, conditions.script(chosen))


def _named(core: list[Requirement], needed: Iterable[str]) -> Iterator[str]:
    """Yields names of the design whose ranges these are: a value of the past has the range of what it is the past
    of."""
    nodes = [node for one in core for node in walk(one.tree) if isinstance(node, Call) and satisfiability.is_past(node)]
    pasts = {satisfiability.past_name(node): tuple(used(node.arguments[0])) for node in nodes}
    for name in needed:
        base = name.partition("@")[0]
        yield from pasts.get(base, (base,))


MOST_PASTS = 3  # values of the past that are followed to their own times; more are free within their ranges


def _conditions(facts: DesignFacts, demands: list[Requirement]) -> Conditions:
    """Returns each demand now, and at the times between which the values of the past lie that any demand reads."""
    counts = whole(facts)
    constant = frozenset(name for name, quantity in facts.quantities.items() if not quantity.varies)
    pasts = {
        satisfiability.past_name(n): n for demand in demands for n in walk(demand.tree) if satisfiability.is_past(n)
    }
    followed = dict(list(pasts.items())[:MOST_PASTS])
    trees, values = [], stated(facts)
    now = dict(values)
    for demand in demands:
        values |= satisfiability.past_ranges(demand.tree, now)
        here = satisfiability.plain(demand.tree, steady=False)
        times = [f"{number}{end}" for number in range(len(followed)) for end in "ab"]
        then = [satisfiability.at_other_times(here, constant, at) for at in times]
        own = {satisfiability.past_name(n) for n in walk(demand.tree) if satisfiability.is_past(n)}
        links = [
            link for number, (name, node) in enumerate(followed.items()) if name in own
            for link in _between(name, node, constant, number)
        ]  # fmt: skip
        trees.append(satisfiability.both(here, *then, *links) or here)
    values |= satisfiability.copied(values, trees)
    copies = {name for tree in trees for name in used(tree) if name.rpartition("@")[0] in counts}
    return Conditions(tuple(trees), values, counts | copies)


def _between(name: str, node: Tree, constant: frozenset[str], number: int) -> Iterator[Tree]:
    """A value of the past lies between two values of what it is the past of."""
    assert isinstance(node, Call)
    inner = satisfiability.plain(node.arguments[0], steady=False)
    first, second = (satisfiability.at_other_times(inner, constant, f"{number}{end}") for end in "ab")
    yield Compare("<=", first, Name(name))
    yield Compare("<=", Name(name), second)


def _ours(core: list[Requirement], ranges: tuple[str, ...]) -> bool:
    """Returns whether it is more than what one limit, one claim, or the words of two promises say by themselves."""
    kinds = {one.kind for one in core}
    if len(core) == 1:
        return kinds == {"promise"} and bool(ranges)
    if kinds <= {"limit", "claim"}:
        return False
    alone = Conditions(tuple(satisfiability.plain(one.stated, steady=False) for one in core), {})
    return not unsat(alone.script(), timeout_ms=satisfiability.TIMEOUT_MS).unsat


def _executed(subject: Subject, facts: DesignFacts, core: list[Requirement]) -> bool:
    """One promise alone or against where loops rest, in a part that runs: interacting-loops executes it."""
    from coherence.verify.promises import exact_runs

    if any(True for one in core for _ in demands_in(facts, one.stated)):
        return False  # runs carry no distributions
    if sum(one.kind == "promise" for one in core) != 1:
        return False
    signals = tuple(name for one in core for name in used(one.tree) if name in facts.written)
    return bool(signals) and bool(exact_runs.closed(subject, tuple(dict.fromkeys(signals))).runs)


def _conflict(
    subject: Subject, facts: DesignFacts, core: list[Requirement], ranges: tuple[str, ...], script: str
) -> Finding:
    places = [one.place.labelled(f"{one.name} demands {one.text}") for one in core]
    places += list(_values(facts, ranges))
    names = list(dict.fromkeys(one.name for one in core))
    targets = " and ".join(f"{one.name} ({one.text})" for one in core)
    verb = "can never be kept" if len(core) == 1 else "can never be kept together"
    message = f"{targets} {verb}" + (f" with {', '.join(_range(facts, name) for name in ranges)}" if ranges else "")
    steps = [Step(None, f"{one.name} demands {one.text}") for one in core]
    steps += [
        Step(None, words)
        for target in core
        for latency in demands_in(facts, target.stated)
        if (words := _latency_words(facts, latency))
    ]
    steps += [Step(None, _range(facts, name)) for name in ranges]
    steps.append(Step(None, "no state fulfils all of these"))
    numbers = {
        f"{name} {end}": (value, "")
        for name in ranges for end, value in (("least", facts.values[name].low), ("most", facts.values[name].high))
        if value is not None
    }  # fmt: skip
    evidence = Evidence(Grade.PROVED, "no state, by solver", tuple(steps), certificate=script, numbers=numbers)
    writers = [w.name for name in ranges for w in facts.written.get(name, ())]
    return QUESTION.conflict(
        message, places, (*names, *writers), evidence, certain=_certain(facts, core), assumptions=_assumed(facts, core),
        repairs=_repairs(subject, facts, core),
    )  # fmt: skip


def _enough_at_rest(facts: DesignFacts, promise: Promise, rests: list[Requirement]) -> bool:
    """Returns whether every state in which the loops rest has enough servers."""
    assert promise.condition is not None
    for latency in demands_in(facts, promise.condition.tree):
        count = enough(facts, latency)
        tree = Compare("<", Name(latency.latency.servers), Number(Fraction(count or 0)))
        few = Requirement(promise.name, "promise", full(facts, tree), tree, promise.place, promise.text)
        if count is None or satisfiability.core(_conditions(facts, [*rests, few])) is None:
            return False
    return True


def _latency_words(facts: DesignFacts, latency: LatencyDemand) -> str:
    """Returns what a latency needs at the least."""
    tree = least(facts, latency)
    if isinstance(tree, Logic):
        tree = tree.terms[0]
    if not isinstance(tree, Compare) or not isinstance(tree.left, Name) or not isinstance(tree.right, Number):
        return ""
    return f"for that {tree.left.path} must be {render_decimal(tree.right.value)} or more"


def _certain(facts: DesignFacts, core: list[Requirement]) -> bool:
    """Returns whether anything keeps a loop from resting, where its rest is part of it."""
    rests = [one for one in core if one.kind == "target"]
    read = {name for rest in rests for name in used(rest.tree)}
    return not any(name not in facts.values or _moves(facts, name) for name in read)


def _moves(facts: DesignFacts, name: str) -> bool:
    quantity = facts.quantities.get(name)
    return quantity is not None and quantity.varies


def _assumed(facts: DesignFacts, core: list[Requirement]) -> Iterator[str]:
    for target in core:
        if target.kind == "target":
            yield f"{target.name} comes to rest"
        for latency in demands_in(facts, target.stated):
            yield f"{latency.latency.queue} has Poisson arrivals and exponential service times (M/M/c)"


def _values(facts: DesignFacts, ranges: tuple[str, ...]) -> Iterator[Place]:
    for name in ranges:
        if name in facts.places:
            yield facts.places[name].labelled(f"{name} may be this")


def _range(facts: DesignFacts, name: str) -> str:
    span = facts.values[name]
    quantity = facts.quantities.get(name)
    dimension = quantity.dimension if quantity is not None else units.ONE
    low, high = (render_quantity(end, dimension) if end is not None else "" for end in (span.low, span.high))
    if span.exact:
        return f"{name} = {low}"
    return f"{name} {low} to {high}" if low and high else f"{name} >= {low}" if low else f"{name} <= {high}"


def _repairs(subject: Subject, facts: DesignFacts, core: list[Requirement]) -> Iterator[Repair]:
    """Relax one promise until a state keeps all, the smallest change first: the nearest number of two digits, or a
    count."""
    relaxed = []
    for index, target in enumerate(core):
        formula = target.formula
        if formula is None or not isinstance(formula.tree, Compare) or not isinstance(formula.tree.right, Number):
            continue
        if formula.tree.op not in ("<", "<=", ">", ">="):
            continue
        number, bound = formula.tree.right, _relaxed(facts, core, index, formula)
        if bound is not None:
            edit = repairs.rewrite(subject, formula.at(number.span), bound, number.dimension)
            relaxed.append((abs(bound - number.value) / number.value, repairs.proposal(edit)))
    yield from (repair for _, repair in sorted(relaxed, key=itemgetter(0)) if repair is not None)


def _relaxed(facts: DesignFacts, core: list[Requirement], index: int, formula: Formula) -> Fraction | None:
    """Returns the nearest bound in two digits, or count, with which the core can be kept; None where none is near."""
    assert isinstance(formula.tree, Compare)
    assert isinstance(formula.tree.right, Number)
    upward, start = formula.tree.op in ("<", "<="), formula.tree.right.value
    counted = formula.tree.right.dimension == units.ONE and start.denominator == 1 and start <= MOST_COUNTED
    if start <= 0:
        return None

    def bound_at(step: int) -> Fraction | None:
        """Returns the bound so many tenths or counts further, if a state keeps all with it."""
        factor = Fraction(11, 10) ** step
        if counted:
            bound = start + step if upward else max(start - step, Fraction(0))
        else:
            bound = repairs.upward_round(start * factor) if upward else repairs.downward_round(start / factor)
        demands = [*core[:index], _with_bound(facts, core[index], bound), *core[index + 1 :]]
        return bound if lasting_state(facts, demands) is not None else None

    high = next((step for step in (1, 2, 4, 8, 16, 32) if bound_at(step) is not None), None)
    if high is None:
        return None
    return bound_at(halved(lambda step: bound_at(step) is not None, high, high // 2, middle=whole_mean)[0])


def _with_bound(facts: DesignFacts, target: Requirement, bound: Fraction) -> Requirement:
    stated = target.stated
    assert isinstance(stated, Compare)
    assert isinstance(stated.right, Number)
    changed = Compare(stated.op, stated.left, Number(bound, stated.right.dimension))
    return replace(target, stated=changed, tree=full(facts, changed))
