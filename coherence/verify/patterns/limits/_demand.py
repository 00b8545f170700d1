"""Checks a limit against the range of what it counts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from fractions import Fraction

from coherence.base.number_text import render_quantity
from coherence.base.places import Place
from coherence.base.units import ONE, SECOND, Dimension
from coherence.findings import repairs
from coherence.findings.finding import Finding, Repair, Step
from coherence.findings.question_input import Question, Subject, arithmetic
from coherence.language.design import Limit
from coherence.language.dimensions import Known as Dimensions
from coherence.language.dimensions import dimension_of
from coherence.language.expressions import names as used
from coherence.language.expressions.tree import Arithmetic, Compare, Name, Tree
from coherence.language.roles import send_count
from coherence.language.schema_kinds import Quantity
from coherence.model.model import Interval
from coherence.verify.facts.design_facts import DesignFacts
from coherence.verify.facts.limits import cap, floor, largest, narrowed, place_of
from coherence.verify.facts.range_claims import claimed
from coherence.verify.facts.ranges import Corner, extremes, truth
from coherence.verify.patterns.limits._shared_out import (
    holds_of_each,
    is_of_none,
    is_shared_out,
    may_be_none,
    needs,
    together,
)
from coherence.verify.timers.recurrences import counts_events
from coherence.verify.timers.removals import OUT

EVEN = "what comes in each window of {} is its rate times the window"
PER_SECOND = ONE / SECOND
MEANT_TO_FILL = ("wait", "reject", "evict and redo")  # a limit that does this is a mechanism, not a promise


def demand(question: Question, subject: Subject, facts: DesignFacts, limit: Limit) -> Iterator[Finding]:
    """Yields the cap, and the floor, against everything that the count may be."""
    assert limit.counts is not None
    counts = facts.tree(limit.counts.tree)
    window, count = limit.window if _is_rate(facts, limit, counts) else None, send_count(facts.design, limit)
    called = any(call.callee is not None and count and call.callee.text == count.callee for call in facts.design.calls)
    loses = called and limit.loses and limit.window is not None and limit.per is None
    if count is not None and (window is not None or loses or count.part):
        return  # `quota_retries` judges sends
    if isinstance(window, Quantity):
        facts.put(f"{limit.name}.window", window)
        counts = Arithmetic("*", counts, Name(f"{limit.name}.window"))
    for bound, op in ((cap(facts, limit), "<="), (floor(facts, limit), ">=")):
        if bound is None:
            continue
        missing = facts.missing(counts)
        if missing:
            yield from _consequence(question, facts, limit, missing)
        elif missing := facts.missing(bound):
            yield question.undecided(f"needs {_spoken(missing[0])}", (limit.place,), (limit.name,))
        else:
            claim, shared = Compare(op, counts, bound), is_shared_out(facts, limit, counts)
            if not shared or holds_of_each(facts, claim):
                yield from _judged(question, subject, facts, limit, claim)
            else:
                yield from _of_shares(question, subject, facts, limit, claim)


def _of_shares(
    question: Question, subject: Subject, facts: DesignFacts, limit: Limit, claim: Compare
) -> Iterator[Finding]:
    """Answers of a limit for each of several things by what it counts of all: a conflict whatever the shares are."""
    if is_of_none(facts, limit):
        return
    of_all = together(facts, limit, claim)
    if of_all is not None and truth(of_all, facts.values) is not True:
        yield from _judged(question, subject, facts, limit, of_all, sure=not may_be_none(facts, limit))
    elif not (claim.op == "<=" and _meant(facts, limit, claim.left)):
        lacking = needs(limit, claim, counted=of_all is not None and of_all != claim)
        yield question.undecided(lacking, _places(facts, limit, claim, ()), (limit.name,))


def _is_rate(facts: DesignFacts, limit: Limit, counts: Tree) -> bool:
    """Decides whether a limit allows so many in a window, and counts how many come per second."""
    bound = limit.at_most if limit.at_most is not None else limit.at_least
    if limit.counts is None or not isinstance(limit.window, Quantity) or not isinstance(bound, Quantity):
        return False
    rated = [w for w in facts.design.workload.values() if w.rate is not None]
    sent = {f"{w.name}.{word}": w.rate.dimension for w in rated if w.rate is not None for word in ("attempts", "rate")}
    signals = {path: sent[path] for path in used(counts) if path in sent}
    signals |= {path: _unit_of(facts, path) for path in used(counts) if path in facts.quantities | facts.written}
    dimension = dimension_of(replace(limit.counts, tree=counts), Dimensions(signals, {}))
    return dimension is not None and dimension.physical == PER_SECOND and bound.dimension.physical != PER_SECOND


def _in_window(limit: Limit, claim: Compare) -> bool:
    """Decides whether a claim is about what comes in the window of its limit."""
    return f"{limit.name}.window" in used(claim.left)


def _counted(limit: Limit, claim: Compare) -> str:
    """Renders what a limit counts."""
    return f"{limit.counts} in {limit.window}" if _in_window(limit, claim) else str(limit.counts)


def _spoken(path: str) -> str:
    thing, _, signal = path.partition(".")
    return f"{signal} of {thing}" if signal else path


def _consequence(question: Question, facts: DesignFacts, limit: Limit, missing: tuple[str, ...]) -> Iterator[Finding]:
    """Ask only where the design says that reaching the limit loses something, or computes the count itself.

    A budget of retries is there to be reached: what it refuses is not sent again.
    """
    assert limit.counts is not None
    computed = not isinstance(limit.counts.tree, Name)
    declared = [path for path in missing if path.partition(".")[0] in facts.design.components]
    budgets = (call.budget.text for call in facts.design.calls if call.budget is not None)
    lost = limit.loses and not counts_events(facts.design, limit) and limit.name not in budgets
    if lost or (computed and declared and limit.when_full is None):
        place = limit.counts.place.labelled("what it counts")
        yield question.undecided(f"needs {_spoken((declared or list(missing))[0])}", (place,), (limit.name,))


def _judged(
    question: Question, subject: Subject, facts: DesignFacts, limit: Limit, claim: Compare, *, sure: bool = True
) -> Iterator[Finding]:
    """Answers a claim about a limit; `sure`: that there is something of which it holds."""
    holds = truth(claim, facts.values)
    meant = claim.op == "<=" and _meant(facts, limit, claim.left)
    if holds:
        yield _proved(question, facts, limit, claim)
        return
    beyond = _beyond(claim)
    excess = extremes(beyond, facts.values if holds is None else _ends_only(facts.values, used(beyond)))
    if excess is not None and excess[1].value > 0 and not (meant and holds is None):
        yield _conflict(question, subject, facts, limit, claim, excess, certain=sure and holds is False)
    elif not meant:
        yield question.undecided(
            f"whether {_counted(limit, claim)} keeps to {limit.name}: {_why_open(facts.values, used(beyond), claim)}",
            _places(facts, limit, claim, ()), (limit.name,),
        )  # fmt: skip
    elif excess is not None and excess[1].value > 0 and _refuses_members(facts, limit, claim.left):
        yield question.undecided(
            f"needs whether {limit.name} is meant to refuse what members hold: {_counted(limit, claim)} can be "
            f"{render_quantity(_value(claim.left, excess[1]), _dimension(limit))}, more than it allows "
            "(`intended: why`; where it is not, `when_full: fail and lose`)",
            _places(facts, limit, claim, ()), (limit.name,),
        )  # fmt: skip


def _ends_only(values: Mapping[str, Interval], paths: Iterable[str]) -> dict[str, Interval]:
    """Returns ranges with both ends: where every value breaks a claim, that at the only end of a range does too."""
    ranges = [(path, values[path]) for path in paths if path in values]
    ends = {path: it.low if it.high is None else it.high for path, it in ranges if None in (it.low, it.high)}
    return {**values, **{path: Interval(end, end) for path, end in ends.items() if end is not None}}


def _why_open(values: Mapping[str, Interval], paths: Iterable[str], claim: Compare) -> str:
    """Returns why it is not known whether a claim holds."""
    endless = next((path for path in paths if path in values and None in (values[path].low, values[path].high)), "")
    if endless:
        return f"needs the {'most' if claim.op == '<=' else 'least'} that {endless} may be"
    return "what it is made of does not vary independently"


def _refuses_members(facts: DesignFacts, limit: Limit, counts: Tree) -> bool:
    """Decides whether a limit rejects what a number of members makes, each so many: no load that comes and goes."""
    rejects = limit.rejects and limit.intended is None
    members = any(path in facts.whole for path in used(counts))
    return rejects and members and not isinstance(limit.counts.tree if limit.counts is not None else None, Name)


def _meant(facts: DesignFacts, limit: Limit, counts: Tree) -> bool:
    """A mechanism: it says that it waits or sheds, or it holds back a loop that takes members out."""
    if limit.when_full is not None:
        return limit.when_full.text in MEANT_TO_FILL
    if not isinstance(counts, Name) or counts.path.partition(".")[2] not in OUT:
        return False
    return any(writer.kind == "step" for writer in facts.written.get(counts.path, ()))


def _beyond(claim: Compare) -> Tree:
    """Returns how far the count is past the bound: positive where the claim fails."""
    return Arithmetic("-", claim.left, claim.right) if claim.op == "<=" else Arithmetic("-", claim.right, claim.left)


def _proved(question: Question, facts: DesignFacts, limit: Limit, claim: Compare) -> Finding:
    count, bound = facts.range(claim.left), facts.range(claim.right)
    worst, limited = (count.high, bound.low) if claim.op == "<=" else (count.low, bound.high)
    numbers = {"count": (worst or Fraction(0), ""), "limit": (limited or Fraction(0), "")}
    touches = worst == limited and _dimension(limit).physical != ONE
    script = claimed(claim, facts.values, whole=facts.whole) or claimed(_plain(claim.op, worst, limited), {})
    message = f"{_counted(limit, claim)} keeps to {limit.name}"
    even = (EVEN.format(limit.name),) if _in_window(limit, claim) else ()
    return question.proved(
        message,
        _places(facts, limit, claim, ()),
        (limit.name, *_writers(facts, used(claim.left))),
        arithmetic(numbers, certificate=script),
        margin=not touches,
        assumptions=even,
    )


def _plain(op: str, worst: Fraction | None, limited: Fraction | None) -> Compare:
    from coherence.language.expressions.tree import Number

    return Compare(op, Number(worst or Fraction(0)), Number(limited or Fraction(0)))


def _conflict(
    question: Question,
    subject: Subject,
    facts: DesignFacts,
    limit: Limit,
    claim: Compare,
    corners: tuple[Corner, Corner],
    *,
    certain: bool,
) -> Finding:
    worst = corners[1]
    values = {path: value for path, value in worst.at.items() if path in used(claim.left)}
    count, bound = _value(claim.left, worst), _value(claim.right, worst)
    shown, allowed = (render_quantity(value, _dimension(limit)) for value in (count, bound))
    cause = ", ".join(f"{path} = {render_quantity(value, _unit_of(facts, path))}" for path, value in values.items())
    word = "at most" if claim.op == "<=" else "at least"
    counted = _counted(limit, claim)
    of_all = (
        f" for all of {limit.per} together"
        if limit.per and used(claim.right) and is_shared_out(facts, limit, claim.left)
        else ""
    )
    message = f"{counted} {'is' if certain else 'can be'} {shown}, {limit.name} is {word} {allowed}{of_all}"
    then = f": {limit.when_full}" if limit.when_full else ""
    witness = [
        Step(None, cause or counted),
        Step(None, f"{counted} is {shown}, the limit is {allowed}{then}"),
    ]
    numbers = {"count": (count, ""), "limit": (bound, ""), **{path: (value, "") for path, value in values.items()}}
    return question.conflict(
        message, _places(facts, limit, claim, tuple(values)), (limit.name, *_writers(facts, tuple(values))),
        arithmetic(numbers, witness=witness), certain=certain, repairs=_repairs(subject, facts, limit, claim, worst),
    )  # fmt: skip


def _value(tree: Tree, corner: Corner) -> Fraction:
    from coherence.language.expressions.evaluate import Constants, evaluate

    return Fraction(evaluate(tree, Constants(corner.at)))


def _writers(facts: DesignFacts, paths: Iterable[str]) -> list[str]:
    return [writer.name for path in paths for writer in facts.written.get(path, ())]


def _dimension(limit: Limit) -> Dimension:
    stated = (limit.at_most, limit.at_least)
    return next((value.dimension for value in stated if isinstance(value, Quantity)), ONE)


def _unit_of(facts: DesignFacts, path: str) -> Dimension:
    quantity = facts.quantities.get(path)
    if quantity is not None:
        return quantity.dimension
    from coherence.verify.patterns.writers._pair import quantities

    stated = (q for writer in facts.written.get(path, ()) for q in quantities(writer))
    return next((q.dimension for q in stated), ONE)


def _places(facts: DesignFacts, limit: Limit, claim: Compare, varied: tuple[str, ...]) -> tuple[Place, ...]:
    stated = limit.at_most if claim.op == "<=" else limit.at_least
    word = "at most this" if claim.op == "<=" else "at least this"
    places = [place_of(stated, limit).labelled(f"{limit.name}: {word}")]
    made_of = [path for path in varied or used(claim.left) if path in facts.places]
    places += [facts.places[path].labelled(f"{path} enters the count") for path in made_of]
    if len(places) == 1 and limit.counts is not None:
        places.append(limit.counts.place.labelled("what it counts"))
    return tuple(places)


def _repairs(subject: Subject, facts: DesignFacts, limit: Limit, claim: Compare, worst: Corner) -> Iterator[Repair]:
    """Moves the limit to the worst count, or one constant to where the count still fits."""
    stated = limit.at_most if claim.op == "<=" else limit.at_least
    count = _value(claim.left, worst)
    if isinstance(stated, Quantity) and stated.exact:
        moved = repairs.proposal(repairs.change(subject, stated, count))
        yield from [moved] if moved else []
    for path in used(claim.left):
        quantity, bound = facts.quantities.get(path), largest(facts, _beyond(claim), path)
        if quantity is not None and bound is not None:
            less = repairs.proposal(narrowed(subject, quantity, bound))
            yield from [less] if less else []
    yield from _written(subject, facts, claim)


def _written(subject: Subject, facts: DesignFacts, claim: Compare) -> Iterator[Repair]:
    """A loop that writes the counted signal itself stops at the limit."""
    from coherence.verify.patterns.writers._pair import quantities

    bound = facts.range(claim.right)
    writers = facts.written.get(claim.left.path, []) if isinstance(claim.left, Name) else []
    if bound.exact and bound.low is not None and len(writers) == 1:
        stated = quantities(writers[0])
        repair = repairs.proposal(repairs.change(subject, stated[-1], bound.low)) if stated else None
        yield from [repair] if repair else []
