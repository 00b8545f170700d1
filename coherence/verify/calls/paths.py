"""Finds the paths between two things along the calls of a design, and the sends that each path makes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from itertools import pairwise, product
from math import prod

from coherence.base.reads import ValueReads, apart, note
from coherence.findings.question_input import Certificate, rational
from coherence.language.call_cases import case_share, is_conditional, render_order
from coherence.language.design import Call
from coherence.language.schema_kinds import Quantity
from coherence.language.words import plain_word
from coherence.model.model import Interval
from coherence.verify.calls.attempts import NOTHING
from coherence.verify.calls.call_graph import CallTree, end_of_call
from coherence.verify.calls.compositions import LONGEST, Algebra, TimeTerm, composed
from coherence.verify.calls.retry_policies import RetryPolicy, copies_of_try, retry_policy_of, tries_again
from coherence.verify.calls.sends_per_call import LayerSends, RetryLayer, most_sends

Way = tuple[RetryPolicy, ...]  # calls from the first caller to the last callee

Size = Fraction | int | None  # of a way, such as its sends; None is unbounded

MOST_WAYS = 64
MOST_CORNERS = 64  # of the ranges of weights
FOREVER = Fraction(10**12)  # seconds of a send that nothing ends
INSTANT = Fraction(1, 10**9)  # seconds, by which limits are told apart that end at once
OTHER = "any other failure"
QUICK, SLOW, ANY = "quick", "slow", "any"


@dataclass(frozen=True)
class Ways:
    """All ways from one thing to another; `cyclic`: one of them may be walked without end; `cut`: there are more."""

    ways: tuple[Way, ...]
    cyclic: bool = False
    cut: bool = False


def ways(tree: CallTree, source: str, target: str) -> Ways:
    """Returns every way along calls from `source` to `target`; found once for each two."""
    known: tuple[Ways, ValueReads] | None = tree.known_ways.get((source, target))
    if known is None:
        known = tree.known_ways[source, target] = apart(lambda: _ways(tree, source, target))
    routes, reads = known
    note(reads)
    return routes


def _ways(tree: CallTree, source: str, target: str) -> Ways:
    if target not in tree.below(source):
        return Ways(())
    useful = tree.leading_to(target)
    looped = {name for cycle in tree.cycles for name in cycle}
    complete: list[Way] = []
    walk: list[tuple[str, Way]] = [(source, ())]
    while walk:
        name, way = walk.pop()
        if name in looped:
            return Ways(tuple(complete), cyclic=True)
        if name == target and way:
            complete.append(way)
            continue
        walk += [(p.callee, (*way, p)) for p in reversed(tree.of_caller.get(name, ())) if p.callee in useful]
        if len(complete) + len(walk) > MOST_WAYS:
            return Ways(tuple(complete), cut=True)
    return Ways(tuple(complete))


def heaviest(tree: CallTree, sizes: Mapping[Way, Size]) -> tuple[Way, ...]:
    """Returns the ways that one request takes together whose sizes add up to most; all lead from one thing to one."""

    def most(parts: Sequence[tuple[Way, ...]]) -> tuple[Way, ...]:
        return max(parts, key=partial(_total, sizes))

    return _together(tree, sizes, Algebra(_all, _all, most, _all, _all, _all))


def lightest(tree: CallTree, sizes: Mapping[Way, Size]) -> tuple[Way, ...]:
    """Returns the ways that one request takes together whose sizes add up to least; a fallback is not needed."""

    def fewest(parts: Sequence[tuple[Way, ...]]) -> tuple[Way, ...]:
        return min(parts, key=partial(_total, sizes))

    return _together(tree, sizes, Algebra(_all, _all, fewest, _first, _all, _all))


def _first(parts: Sequence[tuple[Way, ...]]) -> tuple[Way, ...]:
    return parts[0]


def _together(tree: CallTree, sizes: Mapping[Way, Size], by: Algebra[tuple[Way, ...]]) -> tuple[Way, ...]:
    if len(sizes) == 1 and not any(is_conditional(plan.call) for way in sizes for plan in way):
        return tuple(sizes)
    begun = {way[:length] for way in sizes for length in range(1, len(way) + 1)}

    def onward(before: Way, name: str) -> tuple[Way, ...]:
        return composed(tree.cases.get(name, ()), lambda call: along((*before, retry_policy_of(call))), by) or ()

    def along(way: Way) -> tuple[Way, ...]:
        return (way,) if way in sizes else onward(way, way[-1].callee) if way in begun else ()

    return onward((), next(iter(sizes))[0].caller) if sizes else ()


def _all(parts: Sequence[tuple[Way, ...]]) -> tuple[Way, ...]:
    return tuple(way for part in parts for way in part)


def _total(sizes: Mapping[Way, Size], taken: Sequence[Way]) -> tuple[bool, Fraction]:
    """Returns what orders sums of sizes, of which one that is None is unbounded."""
    bounded = [size for way in taken if (size := sizes[way]) is not None]
    return len(bounded) < len(taken), Fraction(sum(bounded))


def open_share(tree: CallTree, sizes: Mapping[Way, Size]) -> str:
    """Returns what would say how much of the sizes of ways a request takes; nothing where all take equally much."""
    share = share_of(tuple(sizes))
    return share if share and _total(sizes, lightest(tree, sizes)) != _total(sizes, heaviest(tree, sizes)) else ""


def share_of(found: Sequence[Way]) -> str:
    """Returns what would say how often the ways are taken, where some requests do without a call on them."""
    call = next((plan.call for way in found for plan in way if is_conditional(plan.call)), None)
    return "" if call is None else f"how many of the requests of {call.caller} make {call.name} ({render_order(call)})"


def mean_count(routes: Sequence[Way], weights: Mapping[str, Mapping[str, Quantity]]) -> Interval | None:
    """Returns how many of the ways one request takes on average, by the weights of the cases of each caller.

    None where no call on them has a case, or one depends on what is not stated: the weight of its case, a failure.
    """
    calls = {plan.call.name: plan.call for way in routes for plan in way if is_conditional(plan.call)}
    shares = {name: case_share(call, weights.get(str(call.caller), {})) for name, call in calls.items()}
    if not shares or None in shares.values():
        return None
    means = _at_corners(routes, calls, weights)
    if means:
        return Interval(min(means), max(means))
    each = [[share for plan in way if (share := shares.get(plan.call.name)) is not None] for way in routes]
    low, high = (
        sum((prod((share[end] for share in way), start=Fraction(1)) for way in each), Fraction(0)) for end in (0, 1)
    )
    return Interval(low, high)


def _at_corners(
    routes: Sequence[Way], calls: Mapping[str, Call], weights: Mapping[str, Mapping[str, Quantity]]
) -> list[Fraction]:
    """Returns the means at the ends of all weights, between which all others lie; nothing where these are too many.

    No way comes to a caller twice, so that the mean is a ratio of two linear functions of each weight by itself.
    """
    callers = dict.fromkeys(str(call.caller) for call in calls.values())
    stated = [(caller, case, weight) for caller in callers for case, weight in weights[caller].items()]
    if 2 ** sum(weight.low < weight.high for _, _, weight in stated) > MOST_CORNERS:
        return []
    means = []
    for chosen in product(*(dict.fromkeys((weight.low, weight.high)) for _, _, weight in stated)):
        weight_of = {(caller, case): value for (caller, case, _), value in zip(stated, chosen, strict=True)}
        total = {own: sum(value for (caller, _), value in weight_of.items() if caller == own) for own in callers}
        share = {
            name: sum((weight_of[str(call.caller), word.text] for word in call.cases), Fraction(0))
            / total[str(call.caller)]
            for name, call in calls.items()
        }
        each = (prod((share.get(plan.call.name, Fraction(1)) for plan in way), start=Fraction(1)) for way in routes)
        means.append(sum(each, Fraction(0)))
    return means


def causes_of(way: Sequence[RetryPolicy]) -> tuple[str, ...]:
    """Returns the causes by which all sends of a way may fail together."""
    named = [cause.name for plan in way for cause in plan.causes if cause.name != "a slow stream"]
    answered = ["timeout" for plan in way if plan.call.retry_when and tries_again(plan.call, "timeout")]
    stated = [plain_word(name) for plan in way[-1:] for name in plan.call.fails or {}]  # that nobody tries again, too
    return tuple(dict.fromkeys([*named, *answered, *stated, OTHER]))


@dataclass(frozen=True)
class RetryAmplification:
    """Sends at the end of one way for one call at its start, every send failing by `cause`."""

    way: Way
    cause: str
    sends: int | None
    rows: tuple[LayerSends, ...]


def amplification(  # noqa: PLR0913
    way: Sequence[RetryPolicy], cause: str, *, abandons: bool, least: bool = False, pace: str = QUICK,
    copies: bool = True, lean: int = 0, beside: Sequence[Fraction | None] = (),
) -> RetryAmplification:  # fmt: skip
    """Returns the most sends by one cause.  `abandons`: without `on_timeout`; `least`: the smallest of ranges;
    `copies`: second copies of tries count.

    `pace`: failures as fast as they can be, as slow as they are stated, or anything between (then a bound).  `lean`:
    of limits that end at one instant the inner ones end first (1), the outer ones (-1), or as it comes (0).  `beside`:
    seconds that what each call leads to works besides the next one (None: unbounded), of those that stand there.
    """
    plain = [_layer(plan, cause, abandons=abandons, least=least, copies=copies) for plan in way]
    plain = [
        replace(layer, beside=time) for layer, time in zip(plain, (*beside, *[NOTHING.low] * len(way)), strict=False)
    ]
    layers = tuple(_leaning(layer, lean * 2 * (len(way) - 1 - depth), lean) for depth, layer in enumerate(plain))
    quick, slow = _takes(way[-1], cause)
    if any(layer.hedge is not None for layer in layers):
        slow = max(slow, _longest(way[-1], cause))
    sends, rows = most_sends(layers, slow if pace == SLOW else quick, slow if pace == ANY else None)
    return RetryAmplification(tuple(way), cause, sends, rows)


def _layer(plan: RetryPolicy, cause: str, *, abandons: bool, least: bool, copies: bool) -> RetryLayer:
    tries = plan.fewest if least else plan.most
    word, hedge = plan.call.on_timeout, plan.call.hedge_after if copies else None
    limit = (plan.limit.low if least else plan.limit.high) if plan.limit else None
    deadline = (plan.deadline.low if least else plan.deadline.high) if plan.deadline else None
    return RetryLayer(
        tries if tries_again(plan.call, cause) else (1,), plan.backoff, limit, deadline,
        cancels=not abandons if word is None else word.text == "cancel",
        timed_tries=tries if tries_again(plan.call, "timeout") else (1,),
        hedge=None if hedge is None else hedge.high if least else hedge.low,
        hedge_by=None if hedge is None else hedge.high, streams=plan.streams,
    )  # fmt: skip


def _leaning(layer: RetryLayer, later: int, lean: int) -> RetryLayer:
    """Returns a layer whose limits are later by so many instants, that of all its tries by one more."""
    if not lean:
        return layer
    limit = None if layer.limit is None else max(layer.limit + later * INSTANT, NOTHING.low)
    deadline = None if layer.deadline is None else max(layer.deadline + (later + lean) * INSTANT, NOTHING.low)
    return replace(layer, limit=limit, deadline=deadline)


def _takes(plan: RetryPolicy, cause: str) -> tuple[Fraction, Fraction]:
    """Returns the seconds of one send that fails so: as fast as it can be (of unknown causes: at once), and as slow."""
    stated = {plain_word(name): quantity for name, quantity in (plan.call.fails or {}).items()}.get(cause)
    if isinstance(stated, Quantity):
        return stated.low, stated.high
    hangs = plan.limit if cause == "timeout" and plan.limit is not None else NOTHING
    return hangs.low, hangs.low if hangs.high is None else hangs.high


def _longest(plan: RetryPolicy, cause: str) -> Fraction:
    """Returns the seconds that one send may take to fail so where nothing is stated of it: as long as it may last."""
    if isinstance((plan.call.fails or {}).get(cause), Quantity):
        return NOTHING.low
    limit = plan.failure_limit
    return FOREVER if limit is None or limit.high is None else limit.high


def work_beside(
    tree: CallTree, way: Sequence[RetryPolicy], *, pace: str = ANY, waits: bool = False
) -> tuple[Fraction | None, ...]:
    """Returns how long what each call of a way leads to works besides the next call, at most (None: unbounded).

    `waits`: it may also wait for a free member.  Only a second copy is sent for no other reason than that: without one
    on the way what is not stated counts as none, and the other calls do.
    """
    if pace == QUICK:
        return ()
    inner, hedged = tuple(pairwise(way)), any(copies_of_try(plan.call) > 1 for plan in way)
    if pace == SLOW or not hedged:
        own = (tree.work[plan.callee].serve for plan, _ in inner)
        return tuple(NOTHING.low if serve is None else serve.high for serve in own)
    return tuple(None if waits else most_beside(tree, plan, further) for plan, further in inner)


def most_beside(tree: CallTree, plan: RetryPolicy, further: RetryPolicy) -> Fraction | None:
    """Returns the most seconds of the own time of a callee and of its calls, but for one of them."""
    work = tree.work[plan.callee]

    def lasting(call: Call) -> TimeTerm | None:
        other = retry_policy_of(call)
        return None if other is further else end_of_call(other, tree.work[other.callee], hangs=True).most

    others = composed(tree.cases.get(plan.callee, ()), lasting, LONGEST) or TimeTerm(NOTHING.low)
    return None if work.serve is None or others.bound is None else work.serve.high + others.bound


def unsaid(way: Sequence[RetryPolicy]) -> RetryPolicy | None:
    """Returns the first call of the way with a limit and without `on_timeout`."""
    return next((plan for plan in way[:-1] if plan.limit is not None and plan.call.on_timeout is None), None)


def sends_certificate(amplified: Sequence[RetryAmplification], limit: Fraction, relation: str) -> str:
    """Returns a script: layer by layer whole tries times the sends of each, and part of one, sum up within a limit."""
    constants: dict[str, str] = {}
    facts, totals = [], []
    for number, path_sends in enumerate(amplified, 1):
        names = [f"sends_{number}_{depth}" for depth in range(1, len(path_sends.rows) + 1)]
        constants |= dict.fromkeys(names, "Real")
        for row, name, inner in zip(path_sends.rows, names, [*names[1:], "1.0"], strict=True):
            each = inner if row.inner else rational(row.each or 0)
            facts.append(f"(<= {name} (+ (* {rational(row.done or 0)} {each}) {rational(row.part or 0)}))")
        totals.append(names[0])
    whole = f"(+ {' '.join(totals)})" if len(totals) > 1 else totals[0]
    return Certificate(constants, tuple(facts), f"({relation} {whole} {rational(limit)})").script()
