"""capacity claims: what shares a capacity can ask for more than there is.

## What
Adds what the claims on a tier or a component may reach (the bounds of the loops that write them, stated
ranges) and compares the sum with the count.  A sum that passes it for some values is a possible conflict:
whether the loops go there together is their dynamics; that nothing in the design keeps them from it is not.

A boundary around the tier or the thing takes part: what a loop writes there takes effect `gain` times, `instances`
says how many members its slices have room for, `quota` how many devices can be had.  A sum of claims holds for every
delay: each part is within its bounds at any time.

Loops that choose how many members there are of several things on one tier, of which neither `claims` nor `needs` says
how much each holds, are asked about.

What members hold (`needs: {gpu: 4}`) is added up in the same way over all members that a component has or may be
given, against what they run on, the one thing that has the resource, or all places together and each by itself.  A
job of which one member needs more than there is never runs.  Jobs that wait for their turn, members that wait for
each other and members under placement rules are decided elsewhere.

## Why it hurts
Each loop is right about its own bound.  Together they promise the same accelerators twice: one of them
waits, preempts or fails, and which one it is depends on who came first.

## Example
```yaml
coherence: 1
infrastructure: {tiers: {h100: {uses: h100_sxm, count: 64}}}
claims: {h100: pool.desired + batch.running}
loops:
  scale:
    target: {signal: pool.busy, setpoint: 70 %}
    actuation: {signal: pool.desired, law: proportional, bounds: [4, 64]}
  fill:
    trigger: pool.idle > 2
    actuation: {signal: batch.running, law: step, by: 5, bounds: [0, 64]}
```

## Instead
Bounds that fit together: `[4, 44]` for the pool and `[0, 20]` for the batch.

## Source
The design language: `claims` says what shares a capacity; sum <= count is a promise.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction

from coherence.base.places import Place
from coherence.findings import repairs
from coherence.findings.finding import Finding, Repair, Step
from coherence.findings.question_input import Question, Subject, arithmetic
from coherence.language.expressions import names as used
from coherence.language.expressions.tree import Arithmetic, Compare, Name, Tree
from coherence.language.schema_kinds import Formula
from coherence.language.words import MEMBERS
from coherence.verify.facts.design_facts import DesignFacts, known
from coherence.verify.facts.range_claims import claimed
from coherence.verify.facts.ranges import Corner, Values, enclosure, extremes, truth
from coherence.verify.patterns.writers._pair import Numbers, quantities

QUESTION = Question(
    "COH211", "capacity-claims", "ai.04 runtime control coherence", regardless=frozenset({"time", "members", "rate"})
)
QUESTIONS = (QUESTION,)


def ask(subject: Subject) -> Iterator[Finding]:
    """Yields one answer per claimed capacity, and a conflict per capacity that members of components pass."""
    design = subject.design
    holding = any(component.needs is not None for component in design.components.values())
    if not (design.claims or design.tiers or design.jobs or holding):
        return
    from coherence.verify.patterns.limits import _held, _oversized

    facts = known(subject)
    yield from _held.answers(QUESTION, subject, facts)
    yield from _oversized.answers(QUESTION, subject, facts)
    for name, formula in design.claims.items():
        yield _claim(subject, facts, name, formula)
    for name in design.tiers:
        yield from _unclaimed(facts, name) if name not in design.claims else ()


def _unclaimed(facts: DesignFacts, tier: str) -> Iterator[Finding]:
    """Yields the question for the claims on a tier on which several things run, of which loops choose how many."""
    hosted = {c.name for c in facts.design.components.values() if c.runs_on is not None and c.runs_on.text == tier}
    paths = [path for path in facts.written if _thing(path) in hosted and path.rpartition(".")[2] in MEMBERS]
    paths = [path for path in paths if facts.design.components[_thing(path)].needs is None]
    if len({_thing(path) for path in paths}) < 2:
        return
    writers = [writer for path in paths for writer in facts.written[path]]
    example = f"`claims: {{{tier}: {' + '.join(paths)}}}` where each holds one"
    needs = f"needs how much of {tier} each member of {' and '.join(map(_thing, paths))} holds: {example}"
    places = (*(w.place.labelled(f"{w.name} takes from {tier}") for w in writers), *_supply_places(facts, tier))
    yield QUESTION.undecided(needs, places, (tier, *(writer.name for writer in writers)))


def _supply_places(facts: DesignFacts, tier: str) -> tuple[Place, ...]:
    supply = f"{tier}.count"
    return (facts.places[supply].labelled("this many there are"),) if supply in facts.places else ()


def _claim(subject: Subject, facts: DesignFacts, name: str, formula: Formula) -> Finding:
    tree, supply = facts.tree(formula.tree), Name(f"{name}.count")
    where = formula.place.labelled(f"claims on {name}")
    missing = facts.missing(tree)
    if supply.path not in facts.values:
        return QUESTION.undecided(f"needs count of {name}", (where,), (name,))
    if missing:
        return QUESTION.undecided(f"needs bounds of {missing[0]}", (where,), (name,))
    fits = Compare("<=", tree, supply)
    places = _places(facts, where, supply, tree)
    holds = truth(fits, facts.values)
    if holds:
        return _beside_boundaries(facts, name, fits, places)
    excess = extremes(Arithmetic("-", tree, supply), facts.values)
    if excess is None or excess[1].value <= 0:
        return QUESTION.undecided(
            f"needs bounds of what claims {name}: its parts do not vary independently", places, (name,)
        )
    return _conflict(subject, facts, name, fits, excess[1], places, certain=holds is False)


def _places(facts: DesignFacts, where: Place, supply: Name, tree: Tree) -> tuple[Place, ...]:
    found = [where, facts.places[supply.path].labelled("this many there are")]
    found += [facts.places[path].labelled(f"{path} may take this") for path in used(tree) if path in facts.places]
    return tuple(found)


def _owners(facts: DesignFacts, tree: Tree) -> list[str]:
    return [writer.name for path in used(tree) for writer in facts.written.get(path, ())]


def _beside_boundaries(facts: DesignFacts, name: str, fits: Compare, places: tuple[Place, ...]) -> Finding:
    """Returns the proof, or what boundaries leave open: their gains, their slices, their quota."""
    from coherence.model.boundaries import around
    from coherence.verify.facts.boundaries import effects, rooms

    values, of = effects(facts, used(fits.left)), (name, *_owners(facts, fits.left))
    most = enclosure(fits.left, values).high
    if not truth(fits, values) or most is None:
        behind = {
            boundary.name: boundary for path in used(fits.left) for boundary in around(facts.design, _thing(path))
        }
        lines = (*places, *(boundary.place.labelled("what is written may cross this") for boundary in behind.values()))
        needs = (
            f"needs whether the loops run inside {' and '.join(behind)}: with its gain the claims on {name} may not fit"
        )
        return QUESTION.undecided(needs, lines, of)
    members = sum((enclosure(Name(path), values).high or Fraction(0) for path in used(fits.left)), Fraction(0))
    for room in rooms(facts, name):
        if (members if room.members else most) > room.most:
            what = f"{members} members" if room.members else f"{most} of {name}"
            needs = f"needs room in {room.boundary} for {what}: there are {room.text}"
            return QUESTION.undecided(needs, (*places, room.place.labelled("so many there are")), of)
    return _proved(facts, name, fits, places, values)


def _thing(path: str) -> str:
    return path.partition(".")[0]


def _proved(facts: DesignFacts, name: str, fits: Compare, places: tuple[Place, ...], values: Values) -> Finding:
    most, count = enclosure(fits.left, values).high, facts.range(fits.right).low
    numbers: Numbers = {"claimed at most": (most or Fraction(0), ""), "count": (count or Fraction(0), "")}
    evidence = arithmetic(numbers, certificate=claimed(fits, values))
    return QUESTION.proved(f"the claims on {name} fit", places, (name, *_owners(facts, fits.left)), evidence)


def _conflict(
    subject: Subject,
    facts: DesignFacts,
    name: str,
    fits: Compare,
    worst: Corner,
    places: tuple[Place, ...],
    *,
    certain: bool,
) -> Finding:
    count = worst.at[f"{name}.count"]
    claimed_ = worst.value + count
    parts = ", ".join(f"{path} = {worst.at[path]}" for path in used(fits.left))
    message = f"the claims on {name} can reach {claimed_} of {count}: {parts}"
    witness = (Step(None, parts), Step(None, f"{claimed_} are claimed, {count} are there"))
    numbers: Numbers = {
        "claimed": (claimed_, ""),
        "count": (count, ""),
        **{path: (worst.at[path], "") for path in used(fits.left)},
    }
    return QUESTION.conflict(
        message, places, (name, *_owners(facts, fits.left)), arithmetic(numbers, witness=witness),
        certain=certain, repairs=_repairs(subject, facts, name, fits.left, worst, count),
    )  # fmt: skip


def _repairs(
    subject: Subject, facts: DesignFacts, name: str, tree: Tree, worst: Corner, count: Fraction
) -> Iterator[Repair]:
    """Lower one upper bound, lower all in proportion, or add capacity."""
    most = worst.value + count
    uppers = {path: facts.written[path][-1] for path in used(tree) if len(facts.written.get(path, ())) == 1}
    for path, writer in uppers.items():
        stated, room = quantities(writer), worst.at[path] - worst.value
        if len(stated) == 2 and room > max(stated[0].high, Fraction(0)):
            proposed = repairs.proposal(repairs.change(subject, stated[1], room))
            yield from [proposed] if proposed else []
    edits = [
        repairs.change(subject, quantities(writer)[-1], Fraction(math.floor(worst.at[path] * count / most)))
        for path, writer in uppers.items() if quantities(writer)
    ]  # fmt: skip
    supply = facts.quantities.get(f"{name}.count")
    more = repairs.change(subject, supply, most) if supply is not None else None
    for repair in (repairs.proposal(*edits), repairs.proposal(more)):
        yield from [repair] if repair else []
