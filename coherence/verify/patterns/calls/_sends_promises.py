"""Promises and limits on sends: `attempts(x) per call(y) <= n`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from itertools import pairwise
from math import prod

from coherence.base.places import Place
from coherence.findings import repairs
from coherence.findings.finding import Finding, Repair
from coherence.findings.question_input import Question, Subject, arithmetic
from coherence.language.design import Design, Limit
from coherence.language.expressions.evaluate import COMPARE
from coherence.language.expressions.tree import Call as Function
from coherence.language.expressions.tree import Compare, Name, Number, Tree
from coherence.language.schema_kinds import Formula, Quantity
from coherence.model.model import Interval
from coherence.verify.calls.call_graph import IN_TURN, NO_WAIT, CallTree, call_tree, open_time
from coherence.verify.calls.claims import Numbers
from coherence.verify.calls.paths import (  # fmt: skip
    ANY,
    MOST_WAYS,
    QUICK,
    SLOW,
    RetryAmplification,
    Way,
    Ways,
    amplification,
    causes_of,
    heaviest,
    most_beside,
    sends_certificate,
    share_of,
    unsaid,
    ways,
    work_beside,
)
from coherence.verify.calls.repairs import fewer_tries, offered
from coherence.verify.calls.retry_policies import RetryPolicy, copies_of_try
from coherence.verify.facts.design_facts import known
from coherence.verify.patterns.calls._nested_retries import figures, layer_places, render_times, retrying, steps

SHARED = "all tries of a run fail by one shared cause"
TIMES = "one time of each failure of {} (`fails`): where it ends beside a limit above it, more or fewer tries are made"


@dataclass(frozen=True)
class SendsBound:
    """Sends to `callee` for one call into `caller`, at most (or below) `limit`."""

    name: str
    callee: str
    caller: str
    op: str
    limit: Tree
    place: Place


def bounds(design: Design) -> Iterator[SendsBound]:
    """Yields every promise and every limit on sends; what a full limit refuses is no promise about the callers."""
    for promise in design.promises.values():
        tree = promise.condition.tree if promise.kind == "sends" and promise.condition else None
        if isinstance(tree, Compare) and tree.op in ("<", "<="):
            yield SendsBound(promise.name, promise.callee, promise.caller, tree.op, tree.right, promise.place)
    for limit in design.limits.values():
        match limit.counts.tree if limit.counts and limit.when_full is None else None:
            case Function(function="attempts", arguments=(Name(path=callee),)) if limit.per is not None:
                yield from _limit(limit, callee, limit.per.text)


def _limit(limit: Limit, callee: str, caller: str) -> Iterator[SendsBound]:
    match limit.at_most:
        case Formula(tree=tree, place=place):
            yield SendsBound(limit.name, callee, caller, "<=", _never_below(limit, tree), place)
        case Quantity(low=low, place=place):
            yield SendsBound(limit.name, callee, caller, "<=", _never_below(limit, Number(low)), place)


def _never_below(limit: Limit, most: Tree) -> Tree:
    """Returns the larger of a cap and of what it is never below."""
    match limit.but_at_least:
        case Formula(tree=tree):
            return Function("max", (most, tree))
        case Quantity(low=low):
            return Function("max", (most, Number(low)))
    return most


def bound_answers(question: Question, subject: Subject, tree: CallTree, bound: SendsBound) -> Iterator[Finding]:
    """Answers whether the calls of the design keep the bound."""
    of, places = [bound.name], [bound.place.labelled("the bound on sends")]
    facts, paths = known(subject), ways(tree, bound.caller, bound.callee)
    limit, missing = facts.range(bound.limit), facts.missing(bound.limit)
    if needs := _unbounded(bound, paths, limit, missing):
        yield question.undecided(needs, places, of)
    elif not paths.ways:
        message = f"no call leads from {bound.caller} to {bound.callee}: {bound.name} says nothing"
        yield question.vacuous(message, places, of, arithmetic({}))
    elif limit.low is not None and limit.high is not None:
        yield _answer(question, subject, tree, bound, (limit.low, limit.high), paths.ways)


def _unbounded(bound: SendsBound, ways: Ways, limit: Interval, missing: Sequence[str]) -> str:
    """Returns what has to be known first, if anything."""
    if ways.cyclic:
        return f"needs the depth of the calls from {bound.caller} to {bound.callee}: they form a cycle"
    if ways.cut:
        return f"needs fewer than {MOST_WAYS} ways from {bound.caller} to {bound.callee}"
    if missing or limit.low is None or limit.high is None:
        return f"needs a number in {bound.name}" + (f": {missing[0]} has none" if missing else "")
    return ""


def _answer(
    question: Question, subject: Subject, tree: CallTree, bound: SendsBound, limit: tuple[Fraction, Fraction],
    ways: Sequence[Way],
) -> Finding:  # fmt: skip
    most = _worst(tree, ways, abandons=True, pace=ANY)
    least = max((_worst(tree, ways, abandons=False, pace=pace) for pace in (QUICK, SLOW)), key=_total)
    of = [bound.name, *dict.fromkeys(plan.name for way in ways for plan in way)]
    if _holds(bound, limit[0], _sum(most)):
        again = _tried_again(tree, bound, limit[0], ways)
        if again is not None:
            return _meant(question, bound, most, *again)
        others = _other_orders(tree, ways, abandons=True, pace=ANY, counted=_sum(most))
        waiting = _sum(_worst(tree, ways, abandons=True, pace=ANY, waits=True))
        return _proved(question, bound, limit[0], most, of, (*_tied(others), *_no_wait(ways, waiting != _sum(most))))
    if _holds(bound, limit[0], _sum(least)):
        open_call = next((plan.name for way in ways if (plan := unsaid(way))), None)
        missing = (
            f"on_timeout of {open_call}"
            if open_call is not None
            else _open_work(tree, ways) or TIMES.format(bound.callee)
        )
        return question.undecided(f"needs {missing}", _places(bound, most), of)
    surely = [_worst(tree, ways, abandons=False, least=True, pace=pace) for pace in (QUICK, SLOW)]
    bearable = any(_holds(bound, limit[1], max(parts, key=_total_of).sends) for parts in surely)
    pace = next(p for p in (QUICK, SLOW) if _sum(_worst(tree, ways, abandons=False, pace=p)) == _sum(least))
    others = _other_orders(tree, ways, abandons=False, pace=pace, counted=_sum(least))
    bears = any(_holds(bound, limit[1], sends) for sends in others)
    certain = not bearable and not share_of(ways) and not bears
    return _broken(question, subject, (bound, limit[0]), least, of, certain=certain, tied=_tied(others))


def _tried_again(
    tree: CallTree, bound: SendsBound, limit: Fraction, inner: Sequence[Way]
) -> tuple[RetryPolicy, int | None] | None:
    """Returns a call into the caller whose tries together break a bound that each of them keeps, and their sends."""
    for plan in tree.plans:
        if plan.callee == bound.caller and plan.retries:
            around = [(plan, *way) for way in inner]
            sends = [_sum(_worst(tree, around, abandons=False, pace=pace)) for pace in (QUICK, SLOW)]
            broken = [total for total in sends if not _holds(bound, limit, total)]
            if broken:
                return plan, broken[0]
    return None


def _meant(
    question: Question, bound: SendsBound, parts: Sequence[RetryAmplification], plan: RetryPolicy, sends: int | None
) -> Finding:
    """Asks whether a bound per call counts the call with all its tries: each of them keeps it, all together do not."""
    all_of_them = f"all its {plan.tries} tries" if plan.tries is not None else "all its tries"
    needs = (
        f"needs which call {bound.name} counts: one try of {plan.name} sends {_sum(parts)} times to {bound.callee}, "
        f"{all_of_them} {'without bound' if sends is None else sends}; `per call({plan.caller})` is the whole call"
    )
    places = [*_places(bound, parts), *layer_places([plan])]
    return question.undecided(needs, places, [bound.name, plan.name])


def _other_orders(
    tree: CallTree, routes: Sequence[Way], *, abandons: bool, pace: str, counted: int | None
) -> list[int | None]:
    """Returns the sends, where they are others, with limits that end at one instant ending in another order."""
    others = {_sum(_worst(tree, routes, abandons=abandons, pace=pace, lean=lean)) for lean in (1, -1)} - {counted}
    return sorted(others, key=lambda sends: (sends is None, sends or 0))


def _tied(others: Sequence[int | None]) -> tuple[str, ...]:
    """Returns what is assumed of limits that end at one instant, where their order matters."""
    sends = " or ".join("without bound" if n is None else str(n) for n in others)
    return (
        (f"of limits that end at the same instant the order is as counted: in another one {sends} are sent",)
        if others
        else ()
    )


def _open_work(tree: CallTree, routes: Sequence[Way]) -> str:
    """Returns what would bound how long the callee of a try works of which a second copy may be sent; or nothing."""
    hedged = (way for way in routes if any(copies_of_try(plan.call) > 1 for plan in way))
    for plan, further in (pair for way in hedged for pair in pairwise(way)):
        if most_beside(tree, plan, further) is None:
            work = tree.work[plan.callee]
            return f"takes: {{serve: ...}} of {plan.callee}" if work.serve is None else open_time(work, plan.callee)
    return ""


def _no_wait(routes: Sequence[Way], counts: bool) -> Iterator[str]:
    """Yields what is assumed of waits for a free member, where they would send second copies of tries."""
    if counts:
        yield from dict.fromkeys(NO_WAIT.format(plan.callee) for way in routes for plan in way[:-1])


def _worst(
    tree: CallTree, routes: Sequence[Way], *, abandons: bool, least: bool = False, pace: str = QUICK, lean: int = 0,
    waits: bool = False,
) -> list[RetryAmplification]:  # fmt: skip
    """Returns the sends of the ways that one request takes together, by the cause that makes most of them."""
    causes = dict.fromkeys(cause for way in routes for cause in causes_of(way))
    beside = {way: work_beside(tree, way, pace=pace, waits=waits) for way in routes}
    count = partial(amplification, abandons=abandons, least=least, pace=pace, lean=lean)
    each = ({way: count(way, cause, beside=beside[way]) for way in routes} for cause in causes)
    return max((_of_cause(tree, counted) for counted in each), key=_total)


def _of_cause(tree: CallTree, each: Mapping[Way, RetryAmplification]) -> list[RetryAmplification]:
    return [each[way] for way in heaviest(tree, {way: part.sends for way, part in each.items()})]


def _sum(parts: Sequence[RetryAmplification]) -> int | None:
    sends = [part.sends for part in parts]
    return None if None in sends else sum(s for s in sends if s is not None)


def _total(parts: Sequence[RetryAmplification]) -> tuple[bool, int]:
    total = _sum(parts)
    return total is None, total or 0


def _total_of(part: RetryAmplification) -> tuple[bool, int]:
    return _total([part])


def _holds(bound: SendsBound, limit: Fraction, sends: int | None) -> bool:
    return sends is not None and COMPARE[bound.op](sends, limit)


def _times(tree: CallTree, part: RetryAmplification) -> Iterator[Place]:
    """Yields how long a try of each layer lasts until it fails; with second copies, what makes it last longer."""
    for plan in part.way[:8]:
        given = (plan.call.per_try, *(plan.call.fails or {}).values())
        yield from (each.place.labelled(f"a try of {plan.name} ends so") for each in given if each is not None)
    for plan in part.way[:-1] if any(copies_of_try(plan.call) > 1 for plan in part.way) else ():
        if (serve := tree.work[plan.callee].serve) is not None:
            yield serve.place.labelled(f"{plan.callee} works this long besides its calls")


def _places(bound: SendsBound, parts: Sequence[RetryAmplification]) -> list[Place]:
    layers = list(dict.fromkeys(plan for part in parts for plan in retrying(part)))
    ends = [part.way[-1].call.callee for part in parts[:1]]
    sites = layer_places(layers) or [end.place.labelled("sent to from here") for end in ends if end]
    return [*sites, bound.place.labelled(f"promised here: {bound.name}")]


def _proved(
    question: Question, bound: SendsBound, limit: Fraction, parts: Sequence[RetryAmplification], of: list[str],
    tied: tuple[str, ...],
) -> Finding:  # fmt: skip
    total = _sum(parts) or 0
    message = f"one call of {bound.caller} sends at most {total} times to {bound.callee}, {bound.name} allows {limit}"
    numbers: Numbers = {"sends": (total, ""), "allowed": (limit, "")}
    evidence = arithmetic(numbers, certificate=sends_certificate(parts, limit, bound.op))
    assumptions = [SHARED, *([IN_TURN.format(bound.caller)] if len(parts) > 1 else []), *tied]
    return question.proved(message, _places(bound, parts), of, evidence, assumptions=assumptions)


def _broken(
    question: Question, subject: Subject, broken: tuple[SendsBound, Fraction], parts: Sequence[RetryAmplification],
    of: list[str], *, certain: bool, tied: tuple[str, ...],
) -> Finding:  # fmt: skip
    (bound, limit), worst = broken, max(parts, key=_total_of)
    alone = not _holds(bound, limit, worst.sends)
    blamed = [worst] if alone else list(parts)
    total = _sum(blamed)
    times = "without bound" if total is None else f"{total} times"
    layers = " + ".join(_layers(part) for part in blamed[:4]) + (" + ..." if len(blamed) > 4 else "")
    sent = f"one call of {bound.caller} may send {times} to {bound.callee} ({layers}) on {worst.cause}"
    evidence = arithmetic({**figures(worst), "allowed": (limit, "")}, witness=steps(worst))
    places = [*_places(bound, blamed), *_times(call_tree(subject.design), worst)]
    return question.conflict(
        f"{sent}, but {bound.name} allows {limit}", places, of, evidence,
        certain=certain and alone,
        assumptions=[SHARED, *([] if alone else [IN_TURN.format(bound.caller)]), *tied],
        repairs=_fewer(subject, bound, limit, worst) if alone else _fewer_each(subject, bound, limit, blamed),
    )  # fmt: skip


def _layers(part: RetryAmplification) -> str:
    return " x ".join(render_times(plan) for plan in retrying(part)[:8]) or "1"


def _fewer_each(
    subject: Subject, bound: SendsBound, limit: Fraction, parts: Sequence[RetryAmplification]
) -> tuple[Repair, ...]:  # fmt: skip
    """Returns the innermost tries of every way so few that all ways together keep the bound."""
    share = limit / len(parts)
    repairs_of_each = [
        _fewer(subject, bound, share, part)[:1] for part in parts if part.sends is None or part.sends > share
    ]
    edits = dict.fromkeys(edit for made in repairs_of_each for one in made for edit in one.edits)
    return offered(repairs.proposal(*edits)) if edits and all(repairs_of_each) else ()


def _fewer(
    subject: Subject, bound: SendsBound, limit: Fraction, amplification: RetryAmplification
) -> tuple[Repair, ...]:
    """Fewer tries in one layer, innermost first."""
    allowed = int(limit) if bound.op == "<=" or limit.denominator != 1 else int(limit) - 1
    counts = [
        (plan, plan.tries, max(1, allowed * plan.tries // (amplification.sends or 1)))
        for plan in retrying(amplification)
        if plan.tries
    ]
    repairs = [fewer_tries(subject, plan, fewer) for plan, tries, fewer in counts if fewer < tries]
    endless, others = [plan for plan in retrying(amplification) if not plan.tries], prod(n for _, n, _ in counts)
    ended = [fewer_tries(subject, endless[0], allowed // others)] if len(endless) == 1 else []
    return offered(*ended, *reversed(repairs))
