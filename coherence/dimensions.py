"""Units in expressions: what adds or compares must have one dimension.

Signals of outside things have the dimension of whatever they first meet, so nothing is said of them;
zero fits any unit; counters (req, token, replica ...) must agree unless one side is bare.
"""

from __future__ import annotations

from coherence.design import Design
from coherence.expressions.tree import Arithmetic, Call, Choose, Compare, Held, Logic, Name, Number, Tree, Truth
from coherence.names import bare_names, component_formulas, formulas, scope, state_variable
from coherence.shape import Formula, Quantity, Reading
from coherence.units import ONE, SECOND, Dimension
from coherence.values import value

SAME = ("min", "max", "abs", "floor", "ceil", "delayed", "mean_over", "previous", "mean", "quantile", "sum of")


@value
class Known:
    """Dimensions of signals by full path; None stands for any."""

    signals: dict[str, Dimension]
    bare: dict[str, str]

    def of(self, path: str) -> Dimension | None:
        return self.signals.get(self.bare.get(path, path))


def known(design: Design) -> Known:
    """What the design says about the dimensions of its signals."""
    found: dict[str, Dimension] = {}
    for component in design.components.values():
        found |= {
            f"{component.name}.{k}": v.dimension
            for k, v in component.constants.items()
            if isinstance(v, Quantity) and v.high
        }
        found |= {f"{component.name}.{k}": SECOND for k in component.takes or {}}
        variable = state_variable(component)
        if variable and component.initial is not None and component.initial.high:
            found[f"{component.name}.{variable}"] = component.initial.dimension
    for workload in design.workload.values():
        if workload.rate is not None:
            found[f"{workload.name}.rate"] = workload.rate.dimension
    for loop in design.loops.values():
        ends = [b for b in loop.actuation.bounds if isinstance(b, Quantity) and b.high] if loop.actuation else []
        if loop.actuation and loop.actuation.signal and ends:
            found.setdefault(loop.actuation.signal.text, ends[0].dimension)
    return Known(found, bare_names(design))


def check(design: Design, reading: Reading) -> None:
    """Report every sum and comparison of unlike quantities."""
    world = known(design)
    for formula in formulas(design):
        _Checker(formula, world, reading).of(formula.tree)
    for component in design.components.values():
        local = Known(world.signals, scope(component, design))
        for formula in component_formulas(component):
            _Checker(formula, local, reading).of(formula.tree)
    for loop in design.loops.values():
        target = loop.target
        if target is None or target.signal is None or not isinstance(target.setpoint, Quantity):
            continue
        signal = _Checker(target.signal, world, Reading()).of(target.signal.tree)
        if signal is not None and target.setpoint.high and not signal.fits(target.setpoint.dimension):
            message = (
                f"the setpoint {target.setpoint} is {target.setpoint.dimension}, the signal {target.signal} is {signal}"
            )
            reading.problem(target.setpoint.place, message, "give both one unit")
        actuation = loop.actuation
        if actuation is not None and isinstance(actuation.by, Quantity) and actuation.signal is not None:
            written = world.of(actuation.signal.text)
            if written is not None and actuation.by.low and not written.fits(actuation.by.dimension):
                reading.problem(
                    actuation.by.place,
                    f"{actuation.by} is {actuation.by.dimension}, {actuation.signal} is {written}",
                    "give both one unit",
                )


class _Checker:
    """Walks one formula; `of` gives the dimension of a node, or None where it may be any."""

    def __init__(self, formula: Formula, world: Known, reading: Reading) -> None:
        self.formula, self.world, self.reading = formula, world, reading

    def of(self, tree: Tree) -> Dimension | None:
        match tree:
            case Number(value=value, dimension=dimension):
                return dimension if value else None
            case Name(path=path):
                return self.world.of(path)
            case Arithmetic(op="+" | "-"):
                return self.agree(tree.left, tree.right, tree.span, "added to" if tree.op == "+" else "subtracted from")
            case Arithmetic(op=op, left=left, right=right):
                one, other = self.of(left), self.of(right)
                if one is None or other is None:
                    return None
                return one * other if op == "*" else one / other
            case Compare(left=left, right=right, span=span):
                self.agree(left, right, span, "compared with")
                return None
            case Choose(condition=condition, then=then, otherwise=otherwise, span=span):
                self.of(condition)
                return self.agree(then, otherwise, span, "an alternative to")
            case Logic(terms=terms):
                for term in terms:
                    self.of(term)
            case Held(condition=condition):
                self.of(condition)
            case Call():
                return self.call(tree)
            case Truth():
                return None
        return None

    def call(self, tree: Call) -> Dimension | None:
        if tree.function in ("min", "max"):
            found = self.of(tree.arguments[0])
            for other in tree.arguments[1:]:
                found = self.agree(tree.arguments[0], other, tree.span, "compared with") or found
            return found
        parts = [self.of(argument) for argument in tree.arguments]
        if tree.function in ("count by", "in flight", "exp", "log", "tail"):
            return ONE if tree.function in ("exp", "log", "tail") else None
        if tree.function == "rate_of":
            return None if parts[0] is None else parts[0] / SECOND
        return parts[0] if tree.function in SAME else None

    def agree(self, left: Tree, right: Tree, span: tuple[int, int], verb: str) -> Dimension | None:
        """The common dimension; a problem where there is none."""
        one, other = self.of(left), self.of(right)
        if one is not None and other is not None and not one.fits(other):
            self.reading.problem(
                self.formula.at(span),
                f"{_text(self.formula, right)} ({other}) is {verb} {_text(self.formula, left)} ({one})",
                "give both one unit",
            )
        if one is None or other is None:
            return one or other
        return one if one.tags.powers or not other.tags.powers else other


def _text(formula: Formula, tree: Tree) -> str:
    start, end = tree.span
    return f"'{formula.text[start:end]}'" if end > start else "a value"
