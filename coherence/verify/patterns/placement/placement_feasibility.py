"""placement feasibility: spread rules that leave no place for the next member.

## What
Members of a thing are placed one at a time, each where every must still holds; scale-down takes them away again.
All states that this reaches are explored, with nodes alike and zones alike as one.  Every number of members from
the autoscaler's lowest to its highest must have a place, from every such state.  A number can have a solution on
paper and still never be reached, because the members before it have no way there.

`spread by zone <= 1` bounds by how much zones differ, `at most 1 by zone` how many each has; with `together by zone`
only one has any.

A place has what the component of its name states of a resource that somebody needs.

Several things that hold room of the same places, or of the members of one thing (`node: {copies: 8, gpu: 8}`), come in
any order, each member to any place that has room for it: a state of the others in which each place has too little left
for a member is looked for by a solver, over whole members.  Of a job it is one member, beside things that stay.

Places that are not selected (`placement: {web: [only on zone a or b, not on node n3]}`) take no member and count for
no rule; those closed by a taint (`taint: gpu` of a place) take none of a thing that does not bear it (`tolerates gpu`),
and count still, as Kubernetes counts them.  Where a loop evicts members, they may go from wherever they are.

## Why it hurts
The autoscaler says 6 and 5 run: the sixth stays pending, the load stays high, and the autoscaler asks for more.
Each rule is sensible alone; which number they forbid together depends on how many nodes stand in which zone.

## Example
```yaml
coherence: 1
places: {n1: {zone: a}, n2: {zone: a}, n3: {zone: b}}
placement: {web: [spread by zone <= 1, spread by node <= 1]}
loops:
  hpa:
    uses: kubernetes_hpa
    target: {signal: web.cpu, setpoint: 50 %}
    actuation: {signal: web.desired, bounds: [1, 6]}
```

## Instead
`prefer spread by zone <= 1`, or `bounds: [1, 5]`.

## Source
bingzheliu/Kivi, failure case C3 (this example, run on a real cluster by its authors).  kubernetes/kubernetes#116118
(a node that is tainted counts).  pytorch/ci-infra#696 (small pods on both sockets).  Kubernetes documentation, Pod
Topology Spread Constraints: maxSkew, DoNotSchedule and ScheduleAnyway.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from fractions import Fraction

from coherence.base.places import Place
from coherence.base.units import ONE
from coherence.findings import repairs
from coherence.findings.finding import Edit, Finding, Repair, Step, Verdict
from coherence.findings.question_input import Question, Subject, arithmetic
from coherence.language.design import needed
from coherence.language.schema_kinds import Formula, Quantity, Word
from coherence.language.sentences import Admittance, PlacementRule, Spread
from coherence.verify.facts.design_facts import COPIES, PLACED, DesignFacts, as_many, known
from coherence.verify.jobs.count_ranges import (
    PlaceVerdicts,
    added_places_needed,
    adders,
    count_range,
    summary,
    swept_nodes,
    variants,
)
from coherence.verify.jobs.job_kinds import leaving_time, together
from coherence.verify.jobs.needs import NeedsError
from coherence.verify.jobs.obligations import always_a_place
from coherence.verify.jobs.placement import (
    BOUND,
    CERTAIN,
    NONE,
    POSSIBLE,
    UNKNOWN,
    Levels,
    Placement,
    levels,
    on_paper,
    placement,
    steps_to,
)
from coherence.verify.jobs.placing import shown, total
from coherence.verify.jobs.selectors import STAY, TAINT, is_selective
from coherence.verify.jobs.sites import ADDED, ROOM, Cluster, cluster, crowded
from coherence.verify.patterns.writers._pair import Numbers, quantities

QUESTION = Question("COH227", "placement-feasibility", "ai.04 runtime control coherence")
QUESTIONS = (QUESTION,)
MOST_MEMBERS = 300
WORST = (CERTAIN, POSSIBLE, UNKNOWN, NONE)
DOWN = "scale-down takes from a fullest place (as a ReplicaSet does)"


def ask(subject: Subject) -> Iterator[Finding]:
    """Yields one answer per thing that has a must among its placement rules, or that some place does not take."""
    design = subject.design
    for thing in dict.fromkeys((*(design.placement if design.places else ()), *_needing(subject))):
        waits = thing in design.jobs and thing not in (*design.placement, *design.components)
        stated = [] if waits else _restrictions(subject, thing)
        try:
            if stated:
                yield _answer(subject, known(subject), thing, stated)
            else:
                yield from _beside_others(subject, thing)
        except NeedsError as error:
            owner = design.components.get(thing) or design.jobs.get(thing)
            where = error.place or (stated[0] if stated else None) or (owner.place if owner else None)
            yield QUESTION.undecided(error.needs, (where.labelled("where its members go"),) if where else (), (thing,))


def _beside_others(subject: Subject, thing: str, where: Sequence[Place] = ()) -> Iterator[Finding]:
    """Yields whether a thing finds a place wherever others lie that hold room of the same places."""
    from coherence.verify.patterns.placement._shared_places import answer, shared_places

    facts = known(subject)
    shared = shared_places(facts, thing)
    if shared is not None:
        yield answer(QUESTION, facts, shared, where)


def absences(subject: Subject) -> Iterator[Finding]:
    """Yields a proof for each thing with preferences alone that every number of it has a place."""
    design = subject.design
    for thing, rules in design.placement.items() if design.places else ():
        if rules and not _restrictions(subject, thing):
            try:
                answer = _answer(subject, known(subject), thing, [rules[0].place.labelled("a preference")])
            except NeedsError:
                continue
            yield from [answer] if answer.verdict is Verdict.PROVED else []


def _restrictions(subject: Subject, thing: str) -> list[Place]:
    """Returns the rules and taints that keep members of a thing off places; none where all are preferences."""
    design, rules = subject.design, subject.design.placement.get(thing, ())
    musts = [rule.place.labelled("a must") for rule in rules if rule.must]
    closed = [taint.place.labelled("a taint") for taint in _taints(subject)] if is_selective(design, thing) else []
    if not (any(isinstance(rule, Spread) and rule.must for rule in rules) or closed or _selected(rules)):
        return []
    return [*musts, *closed] or [rules[0].place.labelled("how they are placed")]


def _needing(subject: Subject) -> Iterator[str]:
    """Yields components and jobs whose members need something."""
    yield from (component.name for component in subject.design.components.values() if needed(component))
    yield from (job.name for job in subject.design.jobs.values() if needed(job))


def _taints(subject: Subject) -> Iterator[Formula | Word]:
    return (given[TAINT] for given in subject.design.places.values() if TAINT in given)


def _selected(rules: Sequence[PlacementRule]) -> bool:
    return any(isinstance(rule, Admittance) and rule.must and rule.by != TAINT for rule in rules)


def _answer(subject: Subject, facts: DesignFacts, thing: str, musts: list[Place]) -> Finding:
    waiting = thing in facts.design.jobs and thing not in facts.design.components
    low, high = _of_one_job(facts, thing) if waiting else count_range(facts, thing, MOST_MEMBERS, musts[0])
    tried = [cluster(facts, thing, numbers=numbers, soft=False) for numbers in variants(facts)]
    results = [(one, placement(one, low, high)) for one in tried]
    there, placed = min(results, key=lambda pair: WORST.index(pair[1].verdict))
    certain = all(result.verdict == CERTAIN for _, result in results)
    places = (*musts, _chosen(facts, thing, musts[0]))
    of = _of(facts, there)
    if placed.verdict == UNKNOWN:
        bound = f"{len(placed.graph.edges)} states"
        return QUESTION.undecided(f"more than {bound} of {thing} on these places", places, of, bound=bound)
    if placed.verdict == NONE:
        evicts = [loop.name for loop in facts.design.loops.values() if loop.evicted == thing]
        if evicts and any(placement(one, low, high, evicted=True).verdict != NONE for one in tried):
            needs = f"which members {evicts[0]} takes is not followed: without it every number of {thing} has a place"
            return QUESTION.undecided(needs, places, (*of, *evicts))
        held = "" if waiting else _crowding(facts, there, low, high)
        if held and all(rule.capped for rule in there.musts):
            with suppress(NeedsError):  # then what others hold is not followed at all
                beside = next(_beside_others(subject, thing, places), None)
                if beside is not None:
                    return beside
        if held:
            needs = f"where the {held} that others hold lies is not followed: without them each {thing} has a place"
            return QUESTION.undecided(needs, places, of)
        return _proved(results, there, low, high, places, of)
    loop = adders(facts, there)
    if loop is not None:
        return QUESTION.undecided(f"{added_places_needed(loop)}: {placed.blocked} of {thing} do not fit", places, of)
    return _conflict(subject, facts, there, placed, (low, high), places, certain=certain)


def _of_one_job(facts: DesignFacts, name: str) -> tuple[int, int]:
    """Returns the fewest and the most members of one job that lie somewhere at once, whenever others have left."""
    job = facts.design.jobs[name]
    members = together(facts, job)
    leaving_time(facts, name, job)  # read: however long it is, there is a place or none
    if members > MOST_MEMBERS:
        raise NeedsError(f"at most {MOST_MEMBERS} members of {name}: {members}", job.place)
    return members, members


def _crowding(facts: DesignFacts, there: Cluster, low: int, high: int) -> str:
    """Returns what others may take of these places so that a member finds none; nothing where all fit.

    Under one spread rule at most, what they take, wherever it lies, is between nothing and all of it in each class.
    """
    held, full = crowded(facts, there)
    fits = full is not None and len(there.musts) < 2 and placement(full, low, high).verdict == NONE
    return "" if fits else held


def _chosen(facts: DesignFacts, thing: str, other: Place) -> Place:
    return facts.places.get(f"{thing}.copies", other).labelled(f"how many {thing} there may be")


def _of(facts: DesignFacts, there: Cluster) -> tuple[str, ...]:
    """Returns the thing, the loops that choose how many there are, and those that add places."""
    writers = (w.name for word in COPIES for w in facts.written.get(f"{there.thing}.{word}", ()))
    return (there.thing, *writers, *(site.adder for site in there.sites if site.adder))


def _assumed(there: Cluster, low: int, high: int) -> tuple[str, ...]:
    adds = any(site.most > site.number for site in there.sites)
    return (
        *((STAY,) if there.may_go else ()), *((DOWN,) if low < high else ()),
        *((ROOM,) if there.full is not None else ()), *((ADDED,) if adds else ()),
    )  # fmt: skip


def _proved(
    tried: list[tuple[Cluster, Placement]], there: Cluster, low: int, high: int, places: tuple[Place, ...],
    of: tuple[str, ...],
) -> Finding:  # fmt: skip
    every, states = levels(there, max(BOUND, high)), sum(len(outcome.graph.edges) for _, outcome in tried)
    numbers: Numbers = {"fewest": (low, ""), "most": (high, ""), "states": (states, "")}
    numbers_ = f"every number of {there.thing} from {low} to {high}" if low < high else f"{high} of {there.thing}: each"
    message = f"{numbers_} has a place{_beyond(every)}"
    evidence = arithmetic(numbers, certificate=always_a_place(tried, high))
    return QUESTION.proved(message, places, of, evidence, assumptions=_assumed(there, low, high))


def _beyond(every: Levels) -> str:
    if every.ceiling is not None:
        return f" (never more than {every.ceiling}: {every.reason})"
    return f" ({every.reason})" if every.first is None else f" (from {every.first + 1} on it depends on the choices)"


def _conflict(
    subject: Subject, facts: DesignFacts, there: Cluster, placement: Placement, span: tuple[int, int],
    places: tuple[Place, ...], *, certain: bool,
) -> Finding:  # fmt: skip
    assert placement.stuck is not None
    (low, high), every = span, levels(there, max(BOUND, span[1]))
    run = steps_to(there, placement.graph, placement.stuck)
    here = run[-1][1] if run else placement.stuck
    blocked = total(here) + 1
    by_nodes = swept_nodes(facts, there, low, high)
    rules = " and ".join(f"`{rule.text}`" for rule in there.musts)
    keeps = f"no place keeps {rules}" if rules else "no place that takes it has room"
    message = (
        f"{blocked} of {there.thing} cannot be placed: with {shown(there, here)} {keeps}"
        f"{_paper(there, blocked, high)}{_larger(every, certain=placement.verdict == CERTAIN)}{summary(by_nodes)}"
    )
    witness = (*(Step(None, f"{there.thing} {text} ({shown(there, now)})") for text, now in run),
               Step(None, f"{there.thing} {blocked} has no place: {_refused(there, here)}"))  # fmt: skip
    numbers: Numbers = {"placed": (total(here), ""), "asked for": (high, ""), "blocked at": (blocked, ""),
                        "states": (len(placement.graph.edges), "")}  # fmt: skip
    return QUESTION.conflict(
        message, (*places, *_room(facts, there)), _of(facts, there), arithmetic(numbers, witness=witness),
        certain=certain, assumptions=_assumed(there, low, high),
        repairs=(*_repairs(subject, facts, there, every, low), *_more_places(subject, by_nodes)),
    ).refuting(PLACED.format(there.thing), *as_many(facts, there.thing, high))  # fmt: skip


def _room(facts: DesignFacts, there: Cluster) -> Iterator[Place]:
    """Yields the places of a thing, and what one of it needs."""
    yield from (site.place.labelled("a place") for site in there.sites[:3])
    owner = facts.design.components.get(there.thing) or facts.design.jobs.get(there.thing)
    for need in needed(owner).values() if owner is not None else ():
        yield need.place.labelled(f"what one of {there.thing} needs")


def _paper(there: Cluster, blocked: int, high: int) -> str:
    """Numbers above the blocked one that have a solution on paper."""
    if on_paper(there, blocked) is not None:
        return ""
    able = [count for count in range(blocked + 1, min(high, blocked + 4) + 1) if on_paper(there, count)]
    return f"; {able[0]} would fit on paper but cannot be reached" if able else ""


def _larger(every: Levels, *, certain: bool) -> str:
    if every.ceiling is not None and certain:
        return f" (so for every maximum of {every.ceiling + 1} and above, none up to {every.first}: {every.reason})"
    return f" ({every.reason})" if certain else " (other choices of places go on)"


def _refused(there: Cluster, here: tuple[tuple[int, ...], ...]) -> str:
    """Returns why each kind of place refuses the next member."""
    from coherence.verify.jobs.placing import domain_of, domains, excess, name_of, put, spots

    lines = []
    for k, n in spots(here):
        room, after = there.sites[k].room, put(here, k, n, 1)
        if room is not None and here[k][n] >= room:
            lines.append(f"{name_of(there, k, n)} {'is full' if room else 'takes none'}")
            continue
        rule = next(rule for rule in there.musts if excess(there, after, rule, k, n) > 0)
        own, least = domain_of(there, after, rule.by, k, n), min(domains(there, after, rule.by))
        beside = f"`{rule.text}`" if rule.capped else f"another {least}"
        lines.append(f"on {name_of(there, k, n)} one {rule.by} would have {own}, {beside}")
    return "; ".join(lines)


def _repairs(subject: Subject, facts: DesignFacts, there: Cluster, every: Levels, low: int) -> Iterator[Repair]:
    """Yields a maximum that fits, or one of the rules as a preference."""
    highest = facts.quantities.get(f"{there.thing}.copies") or next(
        (q for word in COPIES for w in facts.written.get(f"{there.thing}.{word}", ()) for q in quantities(w)[-1:]), None
    )
    fitting = every.first if every.first is not None else every.ceiling
    if highest is not None and fitting is not None and fitting >= max(low, 1):
        yield from _proposal(repairs.rewrite(subject, highest.place, Fraction(fitting), ONE))
    for rule in facts.design.placement.get(there.thing, ()):
        old = repairs.text_at(subject.sources, rule.place) if rule.must else None
        if old is not None and not old.startswith(("'", '"', "tolerates")):
            yield from _proposal(Edit(rule.place, old, f"prefer {old.removeprefix('only ')}"))


def _more_places(subject: Subject, by_nodes: Iterable[PlaceVerdicts]) -> Iterator[Repair]:
    """Yields as many places of one kind as are enough for every number of members."""
    for nodes in by_nodes:
        count = subject.design.places[nodes.name].get("count")
        above = (
            n for n, verdict in nodes.verdicts if verdict == NONE and isinstance(count, Quantity) and n > count.high
        )
        enough = next(above, None)
        if enough is not None and isinstance(count, Quantity) and count.exact:
            yield from _proposal(repairs.change(subject, count, Fraction(enough)))


def _proposal(edit: Edit | None) -> Iterator[Repair]:
    made = repairs.proposal(edit)
    yield from [made] if made is not None else []
