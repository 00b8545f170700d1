"""Promises and limits on sends: `attempts(x) per call(y) <= n`."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from coherence import repairs
from coherence.design import Design
from coherence.expressions.evaluate import COMPARE, NotExactError, evaluate
from coherence.expressions.tree import Call as Function
from coherence.expressions.tree import Compare, Name, Number, Tree
from coherence.finding import Finding, Repair
from coherence.places import Place
from coherence.shape import Formula, Quantity
from coherence.subject import Question, Subject, arithmetic
from coherence.values import value
from coherence.verify.call_tree import IN_TURN, CallTree
from coherence.verify.paths import MOST_WAYS, Amplification, amplification, causes_of, sends_certificate, unsaid, ways
from coherence.verify.patterns._nested_retries import figures, layer_places, retrying, steps
from coherence.verify.plans import Plan

SHARED = "all tries of a run fail by one shared cause"


@value
class Bound:
    """Sends to `callee` for one call into `caller`, compared with a number.  `enforced`: what is beyond is refused."""

    name: str
    callee: str
    caller: str
    op: str
    limit: Tree
    place: Place
    enforced: bool = False


def bounds(design: Design) -> Iterator[Bound]:
    """Every promise and every limit on sends."""
    for promise in design.promises.values():
        tree = promise.condition.tree if promise.kind == "sends" and promise.condition else None
        if isinstance(tree, Compare):
            yield Bound(promise.name, promise.callee, promise.caller, tree.op, tree.right, promise.place)
    for limit in design.limits.values():
        match limit.counts.tree if limit.counts else None:
            case Function(function="attempts", arguments=(Name(path=callee),)) if (
                limit.per and limit.at_most is not None
            ):
                most = limit.at_most
                tree = (
                    most.tree if isinstance(most, Formula) else Number(most.low) if isinstance(most, Quantity) else None
                )
                if tree is not None:
                    yield Bound(limit.name, callee, limit.per.text, "<=", tree, most.place, limit.when_full is not None)
            case _:
                pass


class _Constants:
    """Constants of components that are exact."""

    def __init__(self, design: Design) -> None:
        self.design = design

    def value(self, path: str) -> Fraction:
        head, _, key = path.partition(".")
        component = self.design.components.get(head)
        value = component.constants.get(key) if component else None
        if not isinstance(value, Quantity) or not value.exact:
            raise NotExactError(f"'{path}' is not a constant")
        return value.low

    def __getattr__(self, name: str) -> object:
        raise NotExactError(f"{name} has no value in a bound on sends")


def kept(question: Question, subject: Subject, tree: CallTree, bound: Bound) -> Iterator[Finding]:
    """Do the calls of the design keep the bound?"""
    of, places = [bound.name], [bound.place.labelled("the bound on sends")]
    if bound.enforced:
        return
    found = ways(tree, bound.caller, bound.callee)
    if found.cyclic or found.cut:
        why = "a cycle of calls has no depth" if found.cyclic else f"there are more than {MOST_WAYS} ways"
        yield question.undecided(f"needs a bounded way from {bound.caller} to {bound.callee}: {why}", places, of)
        return
    if not found.ways:
        yield question.vacuous(
            f"no call leads from {bound.caller} to {bound.callee}: {bound.name} says nothing",
            places,
            of,
            arithmetic({}),
        )
        return
    try:
        limit = Fraction(evaluate(bound.limit, _Constants(subject.design)))  # type: ignore[arg-type]
    except NotExactError as error:
        yield question.undecided(f"needs an exact bound in {bound.name}: {error}", places, of)
        return
    yield _answer(question, subject, bound, limit, found.ways)


def _answer(
    question: Question, subject: Subject, bound: Bound, limit: Fraction, found: tuple[tuple[Plan, ...], ...]
) -> Finding:
    causes = dict.fromkeys(cause for way in found for cause in causes_of(way))
    most = max((_all(found, cause, abandons=True) for cause in causes), key=_total)
    least = max((_all(found, cause, abandons=False) for cause in causes), key=_total)
    surely = max((_all(found, cause, abandons=False, least=True) for cause in causes), key=_total)
    of = [bound.name, *dict.fromkeys(plan.name for way in found for plan in way)]
    if _holds(bound, limit, _sum(most)):
        return _proved(question, bound, limit, most, of)
    if _holds(bound, limit, _sum(least)):
        plan = next((p for way in found if (p := unsaid(way))), None)
        return question.undecided(
            f"needs on_timeout of {plan.name if plan else bound.caller}", _places(bound, most), of
        )
    worst = max(least, key=lambda one: _total([one]))
    in_turn = _holds(bound, limit, worst.sends)
    certain = not in_turn and not _holds(bound, limit, max(surely, key=lambda one: _total([one])).sends)
    return _broken(question, subject, bound, limit, worst if not in_turn else None, least, of, certain=certain)


def _all(
    found: tuple[tuple[Plan, ...], ...], cause: str, *, abandons: bool, least: bool = False
) -> list[Amplification]:
    return [amplification(way, cause, abandons=abandons, least=least) for way in found]


def _sum(parts: list[Amplification]) -> int | None:
    sends = [part.sends for part in parts]
    return None if None in sends else sum(s for s in sends if s is not None)


def _total(parts: list[Amplification]) -> tuple[bool, int]:
    total = _sum(parts)
    return total is None, total or 0


def _holds(bound: Bound, limit: Fraction, sends: int | None) -> bool:
    return COMPARE[bound.op](sends, limit) if sends is not None else bound.op in (">", ">=", "!=")


def _places(bound: Bound, parts: list[Amplification]) -> list[Place]:
    layers = list(dict.fromkeys(plan for part in parts for plan in retrying(part)))
    ends = [part.way[-1].call.callee for part in parts[:1]]
    return [
        *(layer_places(layers) or [e.place.labelled("sent to from here") for e in ends if e]),
        bound.place.labelled(f"promised here: {bound.name}"),
    ]


def _proved(question: Question, bound: Bound, limit: Fraction, parts: list[Amplification], of: list[str]) -> Finding:
    total = _sum(parts)
    message = f"one call of {bound.caller} sends at most {total} times to {bound.callee}, {bound.name} allows {limit}"
    certificate = sends_certificate(parts, limit, bound.op) if total is not None and bound.op in ("<", "<=") else None
    numbers: dict[str, tuple[Fraction | int, str]] = {"sends": (total or 0, ""), "allowed": (limit, "")}
    assumptions = [SHARED, *([IN_TURN.format(bound.caller)] if len(parts) > 1 else [])]
    return question.proved(
        message, _places(bound, parts), of, arithmetic(numbers, certificate=certificate), assumptions=assumptions
    )


def _broken(
    question: Question, subject: Subject, bound: Bound, limit: Fraction, worst: Amplification | None,
    parts: list[Amplification], of: list[str], *, certain: bool,
) -> Finding:  # fmt: skip
    shown = worst or parts[0]
    total = worst.sends if worst else _sum(parts)
    times = "without bound" if total is None else f"{total} times"
    layers = " x ".join(str(plan.tries or "unlimited") for plan in retrying(shown)[:8])
    message = f"one call of {bound.caller} may send {times} to {bound.callee} ({layers}) on {shown.cause}, but {bound.name} allows {limit}"
    evidence = arithmetic({**figures(shown), "allowed": (limit, "")}, witness=steps(shown))
    assumptions = [SHARED] if worst else [SHARED, IN_TURN.format(bound.caller)]
    return question.conflict(
        message, _places(bound, [worst] if worst else parts), of, evidence,
        certain=certain, assumptions=assumptions, repairs=_fewer(subject, bound, limit, shown),
    )  # fmt: skip


def _fewer(subject: Subject, bound: Bound, limit: Fraction, found: Amplification) -> Iterator[Repair]:
    """Fewer tries in one layer, innermost first."""
    allowed = int(limit) if bound.op == "<=" or limit.denominator != 1 else int(limit) - 1
    for plan in reversed(retrying(found)):
        tries = plan.call.tries[0] if len(plan.call.tries) == 1 else None
        if not isinstance(tries, Quantity) or not plan.tries or not found.sends:
            continue
        fewer = max(1, allowed * plan.tries // found.sends)
        if fewer < plan.tries and (repair := repairs.proposal(repairs.change(subject, tries, Fraction(fewer)))):
            yield repair
