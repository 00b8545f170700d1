"""place loss: some places go away, and members that lay there find no other.

## What
`lost: 1` of a place (or of a kind of places with a `count`) says that one may go at once, with all that lies there;
`drained: 1`, that one is emptied for maintenance: it takes nobody more, and its members are evicted one at a time.
From every placement that is reachable, with every number of members, each member must find a place again within the
musts and the room.  A place that is drained counts for the rules still, as a cordoned node does in Kubernetes
(nodeTaintsPolicy Ignore); one that is lost counts no more.  The answer is given for every number of places.

A disruption budget holds evictions back while as many are missing as it lets go.  Where a drain comes to its end so,
with members that wait for the place to be back, that is what the budget allows, and only said.

## Why it hurts
Everything fits, until the first node is upgraded.  Then its members wait: the others are full, or the empty node
makes every other one the fullest, and the drain never comes to an end.

## Example
```yaml
coherence: 1
components: {web: {copies: 6}}
places: {node: {count: 3, drained: 1}}
placement: {web: [spread by node <= 1]}
```

## Instead
`prefer spread by node <= 1`; or, where room is what is short, one more place.

## Source
Kubernetes documentation, Pod Topology Spread Constraints (nodeTaintsPolicy) and Safely Drain a Node;
kubernetes/kubernetes#106127 (cordoned nodes count for the skew).
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from fractions import Fraction
from typing import TYPE_CHECKING

from coherence.base import solver
from coherence.base.places import Place
from coherence.findings import repairs
from coherence.findings.finding import Edit, Finding, Repair, Step
from coherence.findings.question_input import Question, Subject, arithmetic, details_are_asked
from coherence.language.schema_kinds import Quantity
from coherence.model.model import Interval
from coherence.verify.facts.design_facts import DesignFacts, known
from coherence.verify.facts.limits import NOT_HELD_BACK
from coherence.verify.facts.members_that_stay import DRAINED, things_on_places
from coherence.verify.jobs.count_ranges import adders, count_range, render_verdicts, variants
from coherence.verify.jobs.losses import (
    BLOCKED,
    MOST_MEMBERS,
    PlaceLoss,
    going_by_entry,
    going_of,
    losses,
    nodes_of,
    stated_losses,
)  # fmt: skip
from coherence.verify.jobs.needs import NeedsError
from coherence.verify.jobs.obligations import places_for_all
from coherence.verify.jobs.placement import CERTAIN, MOST_STATES, NONE, POSSIBLE, UNKNOWN
from coherence.verify.jobs.placing import name_of, shown, total
from coherence.verify.jobs.sites import ROOM, Cluster, crowded
from coherence.verify.patterns.limits._disruption import spared
from coherence.verify.patterns.writers._pair import Numbers

if TYPE_CHECKING:
    from coherence.verify.patterns.placement._shared_places import SharedPlaces

QUESTION = Question("COH229", "place-loss", "ai.04 runtime control coherence")
QUESTIONS = (QUESTION,)
BOUND, MOST_SWEPT = 20, 4000
WORST = (BLOCKED, CERTAIN, POSSIBLE, UNKNOWN, NONE)
COUNTS = "a place that is drained counts for the rules still (nodeTaintsPolicy: Ignore); one that is lost does not"
ONE_KIND = "places of one entry go at once, and come back before others go"


def ask(subject: Subject) -> Iterator[Finding]:
    """Yields one answer per thing whose members lie on places that may go away."""
    going = list(stated_losses(subject.design))
    for thing in things_on_places(subject.design) if going else ():
        try:
            yield _answer(subject, known(subject), thing, going)
        except NeedsError as error:
            where = (error.place or going[0]).labelled("so many places may go")
            yield QUESTION.undecided(error.needs, (where,), (thing,))


def _answer(subject: Subject, facts: DesignFacts, thing: str, going: list[Place]) -> Finding:
    low, high = count_range(facts, thing, MOST_MEMBERS, going[0])
    tried = [nodes_of(facts, thing, numbers) for numbers in variants(facts)]
    outcomes = [(there, losses(there, going_of(facts, there), max(low, 1), high)) for there in tried]
    there, loss = min(outcomes, key=lambda pair: WORST.index(pair[1].verdict))
    copies = facts.places.get(f"{thing}.copies")
    places = (*going, *(rule.place.labelled("a must") for rule in there.musts))
    places += (copies.labelled(f"so many {thing}"),) if copies is not None else ()
    if loss.verdict == BLOCKED:
        return QUESTION.undecided(f"needs a place for every one of {thing} before any place goes", places, (thing,))
    if loss.verdict == UNKNOWN:
        bound = f"{MOST_STATES} states"
        return QUESTION.undecided(f"more than {bound} of {thing} on these places", places, (thing,), bound=bound)
    held = crowded(facts, there)[0] if loss.verdict == NONE else ""
    if held:
        with suppress(NeedsError):  # then what others hold is not followed at all
            beside = _beside_others(facts, there, going) if adder_of(facts, there) is None else None
            if beside is not None:
                return beside
        needs = f"where the {held} that others hold lies is not followed: without them each {thing} finds a place again"
        return QUESTION.undecided(needs, places, (thing,))
    if loss.verdict == NONE:
        return _proved(facts, there, (low, high), places, _certificate([one for _, one in outcomes]))
    if (within := _within_budgets(facts, tried, (low, high), places)) is not None:
        return within
    loop = adder_of(facts, there)
    if loop is not None:
        needs = f"when {loop} adds places is not followed: {_lost_text(there, loss)}, and some of {thing} find none"
        return QUESTION.undecided(needs, places, (thing, loop))
    certain = all(outcome.verdict == CERTAIN for _, outcome in outcomes)
    return _conflict(subject, facts, there, loss, (low, high), places, certain=certain)


def _beside_others(facts: DesignFacts, there: Cluster, going: list[Place]) -> Finding | None:
    """Returns whether each member finds a place again beside others that hold room of the places that are left.

    None where that is not followed: a rule leads members, or a budget may hold back what is drained.
    """
    from coherence.verify.patterns.placement._shared_places import ANY_PLACE, QUERY_MS, led_by, lying, shared_places

    shared = shared_places(facts, there.thing)
    if shared is None or not all(rule.capped for rule in there.musts):
        return None
    of, kinds = tuple(kind.name for kind in shared.kinds), {kind for _, kind in going_of(facts, there)}
    places = (*going, *(place for each in shared.kinds for place in each.stated))
    assumed, scripts = (ANY_PLACE, ONE_KIND), list[str]()
    for name, kind, number in going_by_entry(facts):
        if name not in shared.entries:
            return None
        if not shared.takes_one(name):
            continue  # none of it is lost there
        left = shared.without(name, number)
        scripts.append(left.blocked())
        decided = solver.unsat(scripts[-1], timeout_ms=QUERY_MS)
        if decided.unsat:
            continue
        if not decided.model or DRAINED in kinds or (led_by(facts, shared) and not _is_too_much(left)):
            return None
        lines = lying(left, decided.model)[1]
        lost = f"{number} of {name}" if shared.entries.count(name) > 1 else name
        message = f"one of {of[0]} finds no place again where {lost} is {kind}, beside others ({'; '.join(lines)})"
        witness = (Step(None, f"{lost} is {kind}"), *(Step(None, line) for line in lines))
        evidence = arithmetic({}, witness=witness)
        return QUESTION.conflict(message, places, of, evidence, certain=False, assumptions=assumed)
    others, most = " and ".join(of[1:]), shared.kinds[0].most
    message = f"{most} of {of[0]}: each finds a place again, whichever place goes, wherever {others} lie"
    return QUESTION.proved(
        message, places, of, arithmetic({}, certificate="(reset)\n".join(scripts)), assumptions=assumed
    )


def _is_too_much(left: SharedPlaces) -> bool:
    from coherence.verify.patterns.placement._shared_places import QUERY_MS

    return solver.unsat(left.packed(), timeout_ms=QUERY_MS).unsat


def _within_budgets(
    facts: DesignFacts, tried: list[Cluster], span: tuple[int, int], places: tuple[Place, ...]
) -> Finding | None:  # fmt: skip
    """Returns the note that no more wait for a place than budgets let go, and each drain ends; None where not."""
    low, high = span
    spare, budgets = spared(facts, tried[0].thing, Interval(Fraction(low), Fraction(high)))
    outcomes = [losses(there, going_of(facts, there), max(low, 1), high, spare) for there in tried] if spare else []
    if not outcomes or any(loss.verdict != NONE for loss in outcomes):
        return None
    thing, away, names = tried[0].thing, max(loss.away for loss in outcomes), [limit.name for limit in budgets]
    so = f"at most {away} of {thing} wait for a place until what is drained is back, and each drain comes to its end"
    message = f"{so}: {' and '.join(names)} lets so many go"
    return QUESTION.note(
        message, (*places, *(limit.place for limit in budgets)), (thing, *names), arithmetic({"wait": (away, "")})
    )


def adder_of(facts: DesignFacts, there: Cluster) -> str | None:
    """Returns a loop that may add places."""
    return next((site.adder for site in there.sites if site.adder), None) or adders(facts, there)


def _assumed(facts: DesignFacts, there: Cluster) -> tuple[str, ...]:
    drains = any(kind == DRAINED for _, kind in going_of(facts, there))
    return (COUNTS, ROOM, *((NOT_HELD_BACK.format(there.thing),) if drains else ()), ONE_KIND)


def _lost_text(there: Cluster, loss: PlaceLoss) -> str:
    names = " and ".join(name_of(there, loss.site, node) for node in loss.gone)
    verb = "are" if len(loss.gone) > 1 else "is"
    return f"with {shown(there, loss.before)} {names} {verb} {loss.kind}"


def _certificate(every: list[PlaceLoss]) -> str | None:
    """Returns a script: whichever place went, a member without one is taken wherever nobody else is to be evicted.

    An eviction brings nobody back to a place that is drained, so evictions and placements come to an end.
    """
    return places_for_all([case for loss in every for case in loss.cases])


def _proved(
    facts: DesignFacts, there: Cluster, span: tuple[int, int], places: tuple[Place, ...], script: str | None
) -> Finding:
    low, high = span
    number = f"every number of {there.thing} from {low} to {high}" if low < high else f"{high} of {there.thing}"
    message = f"{number}: each finds a place again, whichever place goes{_by_places(facts, there, span)[0]}"
    numbers: Numbers = {"fewest": (low, ""), "most": (high, ""), "places": (there.nodes, "")}
    evidence = arithmetic(numbers, certificate=script)
    return QUESTION.proved(message, places, (there.thing,), evidence, assumptions=_assumed(facts, there))


def _conflict(
    subject: Subject, facts: DesignFacts, there: Cluster, loss: PlaceLoss, span: tuple[int, int],
    places: tuple[Place, ...], *, certain: bool,
) -> Finding:  # fmt: skip
    assert loss.after is not None
    members, left = total(loss.before), total(loss.stuck)
    by_places, enough = _by_places(facts, there, span)
    lies = shown(loss.after, loss.stuck) if loss.after.sites else "no place left"
    message = f"{members - left} of {members} {there.thing} find no place: {_lost_text(there, loss)}{by_places}"
    witness = (
        Step(None, f"{members} of {there.thing} lie so: {shown(there, loss.before)}"),
        Step(None, _lost_text(there, loss)),
        Step(None, f"in the end {left} lie so: {lies}; no place takes the next one"),
    )
    numbers: Numbers = {"members": (members, ""), "placed": (left, ""), "places": (there.nodes, "")}
    return QUESTION.conflict(
        message, places, (there.thing,), arithmetic(numbers, witness=witness), certain=certain,
        assumptions=_assumed(facts, there), repairs=_repairs(subject, facts, there, enough),
    )  # fmt: skip


def _by_places(facts: DesignFacts, there: Cluster, span: tuple[int, int]) -> tuple[str, dict[str, int]]:
    """Returns the verdict for each number of places of a kind whose count is stated, and the least that is enough."""
    text, enough, budget = "", dict[str, int](), MOST_SWEPT
    for name in [name for name, given in facts.design.places.items() if "count" in given and details_are_asked()]:
        verdicts: list[tuple[int, str]] = []
        for number in range(1, BOUND + 1):
            other = nodes_of(facts, there.thing, {**dict(there.chosen), name: number})
            loss = losses(other, going_of(facts, other), max(span[0], 1), span[1])
            budget -= loss.states + other.nodes * span[1]
            if budget <= 0 or loss.verdict == UNKNOWN:
                break
            verdicts.append((number, CERTAIN if loss.verdict == BLOCKED else loss.verdict))
        text += f"; {name}: {render_verdicts(verdicts)}" if verdicts else ""
        above = [number for number, verdict in verdicts if verdict == NONE and number > there.nodes]
        enough |= {name: above[0]} if above else {}
    return text, enough


def _repairs(subject: Subject, facts: DesignFacts, there: Cluster, enough: dict[str, int]) -> Iterator[Repair]:
    """Yields a preference in place of a must, or as many places as are enough."""
    edits: list[Edit | None] = []
    for rule in there.musts:
        old = repairs.text_at(subject.sources, rule.place)
        edits += [Edit(rule.place, old, f"prefer {old}")] if old is not None and not old.startswith(("'", '"')) else []
    for name, number in enough.items():
        count = facts.design.places[name].get("count")
        edits += [repairs.change(subject, count, Fraction(number))] if isinstance(count, Quantity) else []
    yield from (repair for edit in edits if (repair := repairs.proposal(edit)) is not None)
