"""Checks units in expressions: what is added or compared must have one dimension.

Signals of outside things have the dimension of whatever they first meet, so nothing is said of them;
zero fits any unit; counters (req, token, replica ...) must agree unless one side is bare.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from coherence.base.units import ONE, SECOND, Dimension
from coherence.language.design import Component, Design, Limit, Loop
from coherence.language.expressions.tree import (
    Arithmetic,
    Call,
    Choose,
    Compare,
    Held,
    Logic,
    Name,
    Number,
    Tree,
    is_boolean,
    walk,
)
from coherence.language.names import (
    bare_names,
    component_formulas,
    conditions,
    formulas,
    paths_of_names,
    scope,
    state_formula,
    state_variable,
)
from coherence.language.roles import send_count
from coherence.language.schema_kinds import Formula, Quantity, Reading
from coherence.language.words import STATES, TIME_IN_QUEUE

UNITE = "give both one unit"
TOKEN = Dimension((("token", 1),))
COUNTS_OF_A_THING = frozenset(word for name in STATES for word in STATES[name] if name not in ("sent", "sent again"))
PAST = ("delayed", "previous")  # of a condition as well as of a number
SAME = ("min", "max", "abs", "floor", "ceil", "delayed", "mean_over", "previous", "mean", "quantile", "sum of")


@dataclass(frozen=True)
class Known:
    """Dimensions of signals by full path; None stands for any.  `loops`: the signals that are called as a loop is."""

    signals: dict[str, Dimension]
    bare: dict[str, str]
    loops: dict[str, list[str]] = field(default_factory=dict)

    def of(self, path: str) -> Dimension | None:
        return self.signals.get(self.bare.get(path, path))

    def within(self, component: Component, design: Design) -> Known:
        """Returns the same for the formulas of a component, whose own names come first."""
        bare = scope(component, design)
        return Known(self.signals, bare, {name: own for name, own in self.loops.items() if name not in bare})


def known(design: Design) -> Known:
    """Returns what the design says about the dimensions of its signals."""
    dimensions: dict[str, Dimension] = {}
    for component in design.components.values():
        dimensions |= {
            f"{component.name}.{k}": v.dimension
            for k, v in component.constants.items()
            if isinstance(v, Quantity) and v.high
        }
        dimensions |= {f"{component.name}.{k}": SECOND for k in component.takes or {}}
        variable = state_variable(component)
        if variable and component.initial is not None and component.initial.high:
            dimensions[f"{component.name}.{variable}"] = component.initial.dimension
    for workload in design.workload.values():
        if workload.rate is not None:
            dimensions[f"{workload.name}.rate"] = workload.rate.dimension
    for loop in design.loops.values():
        acts = loop.actuation
        stated = [*acts.bounds, acts.initial, acts.to, acts.by] if acts and acts.signal else []
        stated += [value for rule in loop.rules for value in (rule.to, rule.by)]
        ends = [value for value in stated if isinstance(value, Quantity) and value.high]
        if acts and acts.signal and ends:
            dimensions.setdefault(acts.signal.text, ends[0].dimension)
    paths = paths_of_names(design) if design.loops else {}
    world = Known(dimensions, bare_names(design), {name: paths.get(name, []) for name in design.loops})
    _add_derived(design, world)
    return world


def _add_derived(design: Design, world: Known) -> None:
    """Adds what formulas of components give: outputs, and states without a start.

    A formula with a number without a unit tells nothing: the number may stand for any (`users.rate / 5000`).  So does
    one that is a time or a rate alone: people lay bare numbers beside those (`web.load > 3` of `load: users.rate`).
    """
    open_formulas = [
        (component, f"{component.name}.{name}", value, ONE)
        for component in design.components.values()
        for name, value in component.constants.items()
        if isinstance(value, Formula)
    ]
    for component in design.components.values():
        plant, variable = state_formula(component), state_variable(component)
        if plant is not None and f"{component.name}.{variable}" not in world.signals:
            open_formulas.append((component, f"{component.name}.{variable}", plant, ONE if component.step else SECOND))
    open_formulas = [entry for entry in open_formulas if not any(map(_is_bare, walk(entry[2].tree)))]
    while open_formulas:
        left = []
        for component, path, formula, span in open_formulas:
            dimension = dimension_of(formula, world.within(component, design))
            if dimension is not None and any(base != "s" for base, _ in dimension.physical.powers):
                world.signals[path] = dimension * span
            else:
                left.append((component, path, formula, span))
        if len(left) == len(open_formulas):
            return
        open_formulas = left


def check(design: Design, reading: Reading) -> None:
    """Reports every sum and comparison of unlike quantities."""
    world = known(design)
    must_hold = {id(formula) for formula in conditions(design)}
    for formula in formulas(design):
        checker = _Checker(formula, world, reading)
        (checker.condition if id(formula) in must_hold else checker.of)(formula.tree)
    for component in design.components.values():
        local = world.within(component, design)
        for formula in component_formulas(component):
            _Checker(formula, local, reading).of(formula.tree)
        plant = state_formula(component)
        if plant is not None:
            _check_plant(component, plant, local, reading)
    for loop in design.loops.values():
        _check_target(loop, world, reading)
        _check_writes(loop, design, world, reading)
    for limit in design.limits.values():
        _check_limit(limit, design, world, reading)
    for name, claimed in design.claims.items():
        _check_claim(name, claimed, design, world, reading)


def dimension_of(formula: Formula, world: Known) -> Dimension | None:
    """Returns the dimension of an expression; None where it may be any, or its parts do not agree."""
    return _Checker(formula, world, Reading()).of(formula.tree)


def _check_plant(component: Component, plant: Formula, world: Known, reading: Reading) -> None:
    """Reports a next value without the dimension of the state, or a derivative without it per second."""
    actual = _Checker(plant, world, reading).of(plant.tree)
    initial = component.initial
    if actual is None or initial is None or not initial.high:
        return
    wanted = initial.dimension if component.step else initial.dimension / SECOND
    if not actual.fits(wanted):
        what = "the next value" if component.step else "the derivative"
        reading.problem(
            plant.place, f"{what} is {actual}, {wanted} expected", "`step: T` makes it a value, else a rate"
        )


def _check_limit(limit: Limit, design: Design, world: Known, reading: Reading) -> None:
    """Reports a cap or floor in another unit than what is counted; a bare number, and in a window a count, fit.

    What is sent in a window is a count, whatever it is: a rate beside the window would be divided by it.
    """
    if limit.counts is None:
        return
    tree, count = limit.counts.tree, send_count(design, limit)
    sent = count is not None and (limit.window is not None or count.caller is None)
    plain = TOKEN if count is not None and count.part else ONE
    counted = plain if sent or _is_count(tree, design) else _Checker(limit.counts, world, Reading()).of(tree)
    timed = _is_wait(tree, design)
    counted = SECOND if timed else counted
    if counted is None:
        return
    wanted = [SECOND] if timed else [counted] if sent else [counted, ONE]
    wanted += [counted * SECOND] if limit.window is not None and not timed and not sent else []
    for stated in (limit.at_most, limit.at_least, limit.but_at_least):
        if isinstance(stated, Quantity) and stated.high and not _fits(stated.dimension, wanted, sent):
            remedy = "write how many may be sent in which time: `at_most: 60, window: 1 min`" if sent else UNITE
            reading.problem(stated.place, f"{limit.counts} is {counted}, the limit is {stated.dimension}", remedy)


def _fits(stated: Dimension, wanted: Sequence[Dimension], sent: bool) -> bool:
    """Decides whether a cap has a wanted dimension; tokens are no number of what is sent."""
    return any(stated.fits(one) for one in wanted) and not (sent and stated == TOKEN and TOKEN not in wanted)


def _is_wait(tree: Tree, design: Design) -> bool:
    """Decides whether a limit is on how long what comes to a thing would wait, of which the thing says nothing."""
    thing, _, signal = tree.path.partition(".") if isinstance(tree, Name) else ("", "", "")
    component = design.components.get(thing)
    return signal == TIME_IN_QUEUE and component is not None and signal not in component.constants


def _check_claim(name: str, claimed: Formula, design: Design, world: Known, reading: Reading) -> None:
    """Reports a claim on a tier that is no number of devices, and one on a value in another unit."""
    wanted = ONE if name in design.tiers else world.of(name)
    actual = _Checker(claimed, world, Reading()).of(claimed.tree)
    if wanted is not None and actual is not None and not actual.fits(wanted):
        reading.problem(claimed.place, f"{claimed} is {actual}, {name} is {wanted}", UNITE)


def _is_count(tree: Tree, design: Design) -> bool:
    """Decides whether what a limit counts is members or requests by its form, and has no unit."""
    if isinstance(tree, Call):
        return tree.function in ("in flight", "count by")
    thing, _, signal = tree.path.partition(".") if isinstance(tree, Name) else ("", "", "")
    component = design.components.get(thing)
    return component is not None and signal in COUNTS_OF_A_THING and signal not in component.constants


def _check_target(loop: Loop, world: Known, reading: Reading) -> None:
    target = loop.target
    if target is None or target.signal is None or not isinstance(target.setpoint, Quantity):
        return
    signal = _Checker(target.signal, world, Reading()).of(target.signal.tree)
    if signal is not None and target.setpoint.high and not signal.fits(target.setpoint.dimension):
        place, wanted = target.setpoint.place, target.setpoint.dimension
        reading.problem(
            place, f"the setpoint {target.setpoint} is {wanted}, the signal {target.signal} is {signal}", UNITE
        )


def _check_writes(loop: Loop, design: Design, world: Known, reading: Reading) -> None:
    """Reports what a loop writes, by its law or rules, in another dimension than the signal's."""
    actuation = loop.actuation
    if actuation is None or actuation.signal is None:
        return
    thing, _, name = actuation.signal.text.partition(".")
    signal = world.of(actuation.signal.text)
    if signal is None or (thing in design.components and name in (design.components[thing].takes or {})):
        return
    written = [actuation.by, actuation.to, actuation.initial, *actuation.bounds]
    written += [value for rule in loop.rules for value in (rule.by, rule.to)] + [limit.by for limit in actuation.rate]
    for setting in written:
        if isinstance(setting, Quantity) and setting.high and not signal.fits(setting.dimension):
            reading.problem(setting.place, f"{setting} is {setting.dimension}, {actuation.signal} is {signal}", UNITE)


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
            case Arithmetic(op=op, left=left, right=right, span=span):
                self.number(left, right)
                if op in ("+", "-"):
                    return self.agree((left, right), span, "added to" if op == "+" else "subtracted from")
                first, second = self.of(left), self.of(right)
                if first is None or second is None:
                    return None
                return first * second if op == "*" else first / second
            case Compare(op=op, left=left, right=right, span=span):
                if op not in ("==", "!=") or _numeric(left) or _numeric(right):
                    self.number(left, right)
                self.agree((left, right), span, "compared with")
            case Choose(condition=condition, then=then, otherwise=otherwise, span=span):
                self.condition(condition)
                return self.agree((then, otherwise), span, "an alternative to")
            case Logic(terms=terms):
                for term in terms:
                    self.condition(term)
            case Held(condition=condition):
                self.condition(condition)
            case Call():
                return self.call(tree)
        return None

    def call(self, tree: Call) -> Dimension | None:
        if tree.function in ("min", "max"):
            self.number(*tree.arguments)
            return self.agree(tree.arguments, tree.span, "compared with")
        parts = [self.of(argument) for argument in tree.arguments]
        if tree.function in ("count by", "in flight", "exp", "log", "tail"):
            return ONE if tree.function in ("exp", "log", "tail") else None
        if tree.function == "rate_of":
            return None if parts[0] is None else parts[0] / SECOND
        return parts[0] if tree.function in SAME else None

    def number(self, *trees: Tree) -> None:
        """Reports what is a condition by its form, or a loop, where a number is expected."""
        for tree in trees:
            if is_boolean(tree):
                message = f"{_text(self.formula, tree)} is a condition, a number is expected"
                self.reading.problem(self.formula.at(tree.span), message, "write `1 if condition else 0`")
            elif isinstance(tree, Name) and tree.path in self.world.loops:
                message = f"{_text(self.formula, tree)} is a loop, true while it acts; a number is expected"
                meant = " or ".join(self.world.loops[tree.path]) or f"`1 if {tree.path} else 0`"
                self.reading.problem(self.formula.at(tree.span), message, f"write {meant}")

    def condition(self, tree: Tree) -> Dimension | None:
        """Checks a part that must be true or false; report what is a number."""
        dimension = self.of(tree)
        if _numeric(tree) or (dimension is not None and isinstance(tree, Name)):
            message = f"{_text(self.formula, tree)} is a number, a condition is expected"
            self.reading.problem(self.formula.at(tree.span), message, "compare it, for example with `> 0`")
        return dimension

    def agree(self, trees: Sequence[Tree], span: tuple[int, int], verb: str) -> Dimension | None:
        """Returns the common dimension; a problem where there is none.  Each part is looked at once."""
        common, first = None, trees[0]
        for tree in trees:
            other = self.of(tree)
            if common is None or other is None:
                common, first = (other, tree) if common is None else (common, first)
            elif not common.fits(other):
                message = f"{_text(self.formula, tree)} ({other}) is {verb} {_text(self.formula, first)} ({common})"
                self.reading.problem(self.formula.at(span), message, UNITE)
            elif other.tags.powers and not common.tags.powers:
                common, first = other, tree
        return common


def _is_bare(tree: Tree) -> bool:
    """Returns whether the node is a number without a unit, and not 0."""
    return isinstance(tree, Number) and tree.dimension == ONE and tree.value != 0


def _numeric(tree: Tree) -> bool:
    """Returns whether the node is a number by its form."""
    return isinstance(tree, Number | Arithmetic) or (isinstance(tree, Call) and tree.function not in PAST)


def _text(formula: Formula, tree: Tree) -> str:
    start, end = tree.span
    return f"'{formula.text[start:end]}'" if end > start else "a value"
