"""Limits on the deadlines of a chain that no deadlines can keep: then the design says nothing.

`x.deadline` and `x.per_try` in a limit or promise are those of the calls to x.  Bounds are tightened
through linear limits, in exact rationals, until an interval is empty or nothing changes any more.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction

from coherence.base.number_text import render_decimal, render_seconds
from coherence.base.places import Place
from coherence.findings.finding import Finding, Step
from coherence.findings.question_input import Certificate, Question, arithmetic, rational
from coherence.language.design import Design
from coherence.language.expressions.tree import Arithmetic, Compare, Name, Number, Tree
from coherence.language.schema_kinds import Formula, Quantity
from coherence.verify.calls.attempts import ZERO
from coherence.verify.calls.claims import Numbers

ROUNDS = 400  # a chain of k limits is settled after k rounds; a cycle may tighten for ever: then it is not decided


@dataclass(frozen=True)
class DeadlineDemand:
    """sum of weight * deadline + constant <= 0, as the limit or promise `name` demands."""

    name: str
    place: Place
    weights: Mapping[str, Fraction]
    constant: Fraction


class _Bound:
    """An interval that shrinks, and the demands that made it so."""

    __slots__ = ("because", "high", "low")

    def __init__(self, low: Fraction, high: Fraction | None) -> None:
        self.low, self.high = low, high
        self.because: tuple[int, ...] = ()


def contradiction(question: Question, design: Design) -> Iterator[Finding]:
    """Yields a vacuous design, where the demands on its deadlines contradict each other, or that it is not known."""
    if not (design.limits or design.promises):
        return
    known = dict(_deadlines(design))
    demands = [demand for demand in _demands(design) if demand.weights and set(demand.weights) <= set(known)]
    bounds = {name: _Bound(q.low, q.high) if q else _Bound(ZERO, None) for name, q in known.items()}
    empty, settled = _tighten(bounds, demands)
    if not settled:
        places = tuple(demand.place.labelled("one of these limits") for demand in demands[:3])
        names = tuple(dict.fromkeys(demand.name for demand in demands))
        needs = f"whether {len(demands)} limits of deadlines contradict each other: they tighten each other for long"
        yield question.undecided(needs, places, (*names, *_calls_of(design, known)), bound=f"{ROUNDS} rounds")
    elif empty is not None:
        blamed = [demands[number] for number in dict.fromkeys(bounds[empty].because)]
        used = {name: known[name] for demand in blamed for name in demand.weights}
        yield _empty(question, design, (empty, bounds[empty]), blamed, used)


def _empty(
    question: Question, design: Design, empty: tuple[str, _Bound], blamed: list[DeadlineDemand],
    used: Mapping[str, Quantity | None],
) -> Finding:  # fmt: skip
    name, least, most = empty[0], empty[1].low, empty[1].high or ZERO
    numbers: Numbers = {f"{name}, at least": (least, "s"), f"{name}, at most": (most, "s"), "limits": (len(blamed), "")}
    steps = [Step(None, f"{demand.name}: {_shown(demand)}") for demand in blamed[:6]]
    evidence = arithmetic(numbers, witness=steps, certificate=_certificate(blamed, used))
    needs = f"{name} would have to be at least {render_seconds(least)} and at most {render_seconds(most)}"
    places = [*(d.place.labelled("a limit that cannot be kept") for d in blamed[-1:]), *_others(blamed, used)]
    of = [*(demand.name for demand in blamed), *_calls_of(design, used)]
    if all(q is not None and q.exact for q in used.values()):
        return question.conflict(f"the deadlines break their limits: {needs}", places, of, evidence)
    return question.vacuous(
        f"no deadlines keep these limits: {needs}; all verdicts rest on nothing", places, of, evidence
    )


def _others(blamed: list[DeadlineDemand], used: Mapping[str, Quantity | None]) -> Iterator[Place]:
    yield from (demand.place.labelled("with this one") for demand in blamed[:-1][:3])
    yield from (q.place.labelled("a deadline that they bound") for q in list(used.values())[:2] if q is not None)


def _calls_of(design: Design, used: Mapping[str, Quantity | None]) -> list[str]:
    callees = {name.rsplit(".", 1)[0] for name in used}
    return [call.name for call in design.calls if call.callee is not None and call.callee.text in callees]


def _deadlines(design: Design) -> Iterator[tuple[str, Quantity | None]]:
    """`x.deadline` and `x.per_try` of things to which exactly one call leads; None is unlimited."""
    callees = [call.callee.text for call in design.calls if call.callee]
    for call in design.calls:
        if call.callee is not None and callees.count(call.callee.text) == 1:
            for key, value in (("deadline", call.deadline), ("per_try", call.per_try)):
                yield f"{call.callee.text}.{key}", value if isinstance(value, Quantity) else None


def _demands(design: Design) -> Iterator[DeadlineDemand]:
    for limit in design.limits.values():
        for bound, sign in ((limit.at_most, 1), (limit.at_least, -1)):
            if limit.counts is not None and isinstance(bound, Quantity | Formula):
                yield from _demand(limit.name, bound.place, limit.counts.tree, _tree(bound, sign), sign)
    for promise in design.promises.values():
        compared = promise.condition.tree if promise.kind == "always" and promise.condition else None
        if isinstance(compared, Compare) and compared.op in ("<", "<=", ">", ">="):
            yield from _demand(
                promise.name, promise.place, compared.left, compared.right, 1 if compared.op in ("<", "<=") else -1
            )


def _tree(bound: Quantity | Formula, sign: int) -> Tree:
    """Returns the bound as an expression; of a range the end that demands less."""
    return bound.tree if isinstance(bound, Formula) else Number(bound.high if sign > 0 else bound.low, bound.dimension)


def _demand(name: str, place: Place, left: Tree, right: Tree, sign: int) -> Iterator[DeadlineDemand]:
    left_sum, other = linear(left), linear(right)
    if left_sum is not None and other is not None:
        total = _added(left_sum, other, Fraction(-1))
        weights = {key: sign * weight for key, weight in total.items() if weight and key}
        yield DeadlineDemand(name, place, weights, sign * total.get("", ZERO))


def linear(tree: Tree) -> dict[str, Fraction] | None:
    """Weights of the names in a linear expression, the constant under the empty name; None if not linear."""
    match tree:
        case Number(value=value):
            return {"": value}
        case Name(path=path):
            return {path: Fraction(1)}
        case Arithmetic(op=op, left=left, right=right):
            left_sum, other = linear(left), linear(right)
            return None if left_sum is None or other is None else _combined(op, left_sum, other)
    return None


def _combined(op: str, left: dict[str, Fraction], other: dict[str, Fraction]) -> dict[str, Fraction] | None:
    if op in "+-":
        return _added(left, other, Fraction(1 if op == "+" else -1))
    if op == "*" and set(left) <= {""}:
        left, other = other, left
    if not set(other) <= {""} or (op == "/" and not other.get("")):
        return None
    factor = other.get("", ZERO) if op == "*" else 1 / other[""]
    return {name: weight * factor for name, weight in left.items()}


def _added(one: Mapping[str, Fraction], other: Mapping[str, Fraction], sign: Fraction) -> dict[str, Fraction]:
    return {name: one.get(name, ZERO) + sign * other.get(name, ZERO) for name in {**one, **other}}


def _tighten(bounds: dict[str, _Bound], demands: list[DeadlineDemand]) -> tuple[str | None, bool]:
    """Returns the first name whose interval becomes empty, and whether that is settled."""
    for _ in range(ROUNDS):
        changed = False
        for number, demand in enumerate(demands):
            for name in demand.weights:
                changed |= _tighten_one(bounds, demand, number, name)
                if (high := bounds[name].high) is not None and high < bounds[name].low:
                    return name, True
        if not changed:
            return None, True
    return None, False


def _tighten_one(bounds: dict[str, _Bound], demand: DeadlineDemand, number: int, name: str) -> bool:
    """weight * x <= -(constant + least of the others)."""
    room, because = -demand.constant, dict.fromkeys((*bounds[name].because,))
    for other, weight in demand.weights.items():
        if other != name:
            end = bounds[other].low if weight > 0 else bounds[other].high
            if end is None:
                return False
            room -= weight * end
            because |= dict.fromkeys(bounds[other].because)
    weight, bound = demand.weights[name], bounds[name]
    value = room / weight
    if weight > 0 and (bound.high is None or value < bound.high):
        bound.high = value
    elif weight < 0 and value > bound.low:
        bound.low = value
    else:
        return False
    bound.because = (*(n for n in because if n != number), number)
    return True


def _shown(demand: DeadlineDemand) -> str:
    terms = " + ".join(f"{render_decimal(weight)} * {name}" for name, weight in demand.weights.items())
    return f"{terms} <= {render_seconds(-demand.constant)}"


def _certificate(blamed: list[DeadlineDemand], used: Mapping[str, Quantity | None]) -> str:
    """The demands and the stated ranges together: unsatisfiable."""
    symbol = {name: f"|{name}|" for name in used}
    facts = [f"(<= {rational(q.low if q else ZERO)} {symbol[name]})" for name, q in used.items()]
    facts += [f"(<= {symbol[name]} {rational(q.high)})" for name, q in used.items() if q]
    for demand in blamed:
        terms = " ".join(f"(* {rational(weight)} {symbol[name]})" for name, weight in demand.weights.items())
        facts.append(f"(<= (+ {terms} {rational(demand.constant)}) 0.0)")
    return Certificate(dict.fromkeys(symbol.values(), "Real"), tuple(facts), "false").script()
