"""Elaborates a design to its model: inlines parts, resolves names, finds algebraic loops, lists gaps."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from fractions import Fraction

from coherence.base.errors import InputError, Problem
from coherence.base.places import Place
from coherence.base.queries import cached
from coherence.base.units import ONE, Dimension
from coherence.language import catalogue, names
from coherence.language.design import Component, Design, Loop, Rate, Relay
from coherence.language.document import Scalar, Table
from coherence.language.expressions import ExpressionError, parse
from coherence.language.expressions.tree import Call, Name, Number, Rename, Tree, children, rename, walk
from coherence.language.schema_kinds import Formula, Quantity, Reading, parse_quantity
from coherence.model import laws
from coherence.model.model import (  # fmt: skip
    EVERYTHING,
    Command,
    Constant,
    Gap,
    Interval,
    Model,
    RateLimit,
    SampledLoop,
    State,
    interval,
)


@dataclass(slots=True)
class _Parts:
    """What elaboration gathers."""

    design: Design
    states: dict[str, State] = field(default_factory=dict)
    commands: dict[str, Command] = field(default_factory=dict)
    constants: dict[str, Constant] = field(default_factory=dict)
    outputs: dict[str, Tree] = field(default_factory=dict)
    places: dict[str, Place] = field(default_factory=dict)
    gaps: list[Gap] = field(default_factory=list)
    abstractions: list[str] = field(default_factory=list)
    reading: Reading = field(default_factory=Reading)
    index: dict[str, str] = field(default_factory=dict)

    def gap(self, of: str, needs: str, place: Place) -> None:
        self.gaps.append(Gap(of, needs, place))


@cached
def model_of(design: Design) -> Model:
    """Returns the model of a design, elaborated once.  Raises InputError as `elaborate` does."""
    return elaborate(design)


def elaborate(design: Design) -> Model:
    """Returns the model of a design.  Raises InputError for algebraic loops and malformed plants."""
    parts = _Parts(design, index=dict(names.bare_names(design)))
    for workload in design.workload.values():
        _workload(parts, workload.name)
    for component in design.components.values():
        _component(parts, component)
    sampled = [_loop(parts, order, loop) for order, loop in enumerate(design.loops.values())]
    loops = tuple(sorted((loop for loop in sampled if loop), key=lambda loop: (loop.rank, loop.order)))
    _commands(parts, loops)
    model = _close(parts, loops)
    if parts.reading.problems:
        raise InputError(parts.reading.problems)
    return model


def _workload(parts: _Parts, name: str) -> None:
    workload = parts.design.workload[name]
    if workload.rate is not None:
        _constant(parts, f"{name}.rate", workload.rate)
        parts.outputs[f"{name}.attempts"] = Name(f"{name}.rate")
        parts.places[f"{name}.attempts"] = workload.place
        parts.abstractions.append(f"{name}.attempts = {name}.rate (retries do not add load in this reading)")


def _constant(parts: _Parts, path: str, value: Quantity) -> None:
    parts.constants[path] = Constant(path, interval(value), value.varies, value.dimension, value.place)


def _component(parts: _Parts, component: Component) -> None:
    name = component.name
    for key, duration in (component.takes or {}).items():
        _constant(parts, f"{name}.{key}", duration)
    if isinstance(component.copies, Quantity):
        _constant(parts, f"{name}.copies", component.copies)
    for key, value in component.constants.items():
        if isinstance(value, Quantity):
            _constant(parts, f"{name}.{key}", value)
        elif isinstance(value, Formula) and not _names_a_thing(component, key, value):
            local = names.scope(component, parts.design)
            parts.outputs[f"{name}.{key}"] = rename(value.tree, _by(local))
            parts.places[f"{name}.{key}"] = value.place
    if component.state is not None:
        _plant(parts, component)
    if component.part is not None:
        _from_part(parts, component, component.part.text)


def _by(local: dict[str, str]) -> Rename:
    return lambda path: local.get(path, path)


def _names_a_thing(component: Component, key: str, value: Formula) -> bool:
    """Returns whether the key is an input that takes a whole component (`served_by: pool`)."""
    if component.part is None or not isinstance(value.tree, Name):
        return False
    return _is_thing(catalogue.mathematics(component.part.text)["inputs"], key)


def _plant(parts: _Parts, component: Component) -> None:
    """Adds the state of `state: "p' = expr"`: with `step: T` the value after each T, else the derivative."""
    assert component.state is not None
    match, formula = names.PLANT.fullmatch(component.state.text), names.state_formula(component)
    if match is None or formula is None:
        raise InputError([Problem(component.state.place, "this is not a plant", "write `p' = expression`")])
    place = component.state.place
    tree = rename(formula.tree, _by(names.scope(component, parts.design)))
    path = f"{component.name}.{match[1]}"
    initial = component.initial
    if initial is None:
        parts.gap(component.name, f"the initial value of {path} (`from:`)", component.place)
    dimension = initial.dimension if initial else ONE
    start = interval(initial) if initial else Interval(Fraction(0), Fraction(0))
    step = component.step.low if component.step else None
    parts.states[path] = State(
        path, start, EVERYTHING, tree if step else None, None if step else tree, step, False, dimension, place
    )


def _resolved(parts: _Parts, tree: Tree) -> Tree:
    return rename(tree, lambda path: parts.index.get(path, path))


def _from_part(parts: _Parts, component: Component, part: str) -> None:
    blocks = catalogue.mathematics(part)
    local = {name.rpartition(".")[2] for block in blocks.values() for name in block.entries}
    bound = {k: v for k, v in component.constants.items() if isinstance(v, Formula)}
    things = {k: v.tree.path for k, v in bound.items() if isinstance(v.tree, Name) and _is_thing(blocks["inputs"], k)}

    def local_name(path: str) -> str:
        head, dot, rest = path.partition(".")
        if head in things and dot:
            return f"{things[head]}.{rest}"
        return f"{component.name}.{path}" if head in local else path

    for name, block in blocks["states"].entries.items():
        _part_state(parts, component, name, block, local_name)
    for name, block in blocks["commands"].entries.items():
        _part_command(parts, component, name, block)
    for name, node in blocks["outputs"].entries.items():
        tree = _part_tree(parts, node, local_name)
        path = f"{component.name}.{name}"
        if tree is not None and path not in parts.constants:
            parts.outputs[path], parts.places[path] = tree, component.place
    notes = catalogue.part("components", part).get("notes")
    if isinstance(notes, Scalar):
        first = notes.text.split(". ")[0].rstrip(".")
        parts.abstractions.append(f"{component.name} is abstracted ({part}): {first}")


def _is_thing(inputs: Table, key: str) -> bool:
    declared = inputs.get(key)
    kind = declared.get("kind") if isinstance(declared, Table) else None
    return isinstance(kind, Scalar) and kind.text == "component"


def _part_tree(parts: _Parts, node: object, local_name: Rename) -> Tree | None:
    text = node.get("is") if isinstance(node, Table) else node
    if not isinstance(text, Scalar):
        return None
    try:
        return rename(parse(text.text), local_name)
    except ExpressionError as error:
        parts.reading.problem(text.place, f"{error} in '{text.text}'", error.remedy)
        return None


def _bound(block: object, key: str, reading: Reading) -> Quantity | None:
    node = block.get(key) if isinstance(block, Table) else None
    return parse_quantity(node, reading, None) if isinstance(node, Scalar) else None


def _range(block: object, reading: Reading) -> Interval:
    low, high, whole = (_bound(block, key, reading) for key in ("min", "max", "range"))
    if whole is not None:
        return interval(whole)
    return Interval(low.low if low else None, high.high if high else None)


def _unit(block: object) -> Dimension:
    from coherence.base.units import UnitError, unit

    node = block.get("unit") if isinstance(block, Table) else None
    try:
        return unit(node.text)[1] if isinstance(node, Scalar) else ONE
    except UnitError:
        return ONE


def _part_state(parts: _Parts, component: Component, name: str, block: object, local_name: Rename) -> None:
    if not isinstance(block, Table):
        return
    path = f"{component.name}.{name}"
    initial = _bound(block, "from", parts.reading)
    start = (
        interval(component.initial)
        if component.initial
        else interval(initial)
        if initial
        else Interval(Fraction(0), Fraction(0))
    )
    step = _bound(block, "step", parts.reading)
    kind = block.get("type")
    integer = isinstance(kind, Scalar) and kind.text == "int"
    following, flow = (
        _part_tree(parts, block.get(key), local_name) if block.get(key) else None for key in ("next", "flow")
    )
    parts.states[path] = State(
        path,
        start,
        _range(block, parts.reading),
        following,
        flow,
        step.low if step else None,
        integer,
        _unit(block),
        component.place,
    )


def _part_command(parts: _Parts, component: Component, name: str, block: object) -> None:
    path = f"{component.name}.{name}"
    initial = _bound(block, "from", parts.reading)
    kind = block.get("type") if isinstance(block, Table) else None
    integer = isinstance(kind, Scalar) and kind.text == "int"
    start = interval(initial) if initial else EVERYTHING
    parts.commands[path] = Command(path, start, _range(block, parts.reading), integer, _unit(block), component.place)


def _loop(parts: _Parts, order: int, loop: Loop) -> SampledLoop | None:
    """Returns the sampled form of a loop, or None with a gap where it cannot run."""
    actuation, timescale = loop.actuation, loop.timescale
    if actuation is None or actuation.evict is not None:
        parts.gap(loop.name, "an actuation that a run can carry out", loop.place)
        return None
    if timescale is None or timescale.period is None or not timescale.period.exact or timescale.period.low == 0:
        parts.gap(loop.name, f"the period of {loop.name} (`timescale: {{period: ...}}`)", loop.place)
        return None
    law = laws.law_of(loop)
    if law == "ignore":
        parts.gap(loop.name, "`law: ignore` in execution", loop.place)
        return None
    target = loop.target
    measured = _sensed(parts, loop)
    setpoint = _tree_of(parts, target.setpoint) if target else None
    if law == "proportional" and (measured is None or setpoint is None):
        parts.gap(loop.name, f"target signal and setpoint of {loop.name}", loop.place)
        return None
    bounds = _bounds(loop)
    relay = loop.trigger if isinstance(loop.trigger, Relay) else None
    return SampledLoop(
        name=loop.name,
        period=timescale.period.low,
        phase=timescale.phase.low if timescale.phase else None,
        rank=loop.rank.low if loop.rank else Fraction(1000),
        order=order,
        trigger=_trigger(parts, loop),
        enter=_read(parts, loop, relay.enter.tree) if relay and relay.enter else None,
        leave=_read(parts, loop, relay.leave.tree) if relay and relay.leave else None,
        rules=tuple(
            (_read(parts, loop, r.when.tree), _tree_of(parts, r.by), _tree_of(parts, r.to))
            for r in loop.rules
            if r.when
        ),
        law=law,
        signal=parts.index.get(actuation.signal.text, actuation.signal.text) if actuation.signal else "",
        by=_tree_of(parts, actuation.by),
        to=_tree_of(parts, actuation.to),
        measured=measured,
        setpoint=setpoint,
        tolerance=target.tolerance.low if target and target.tolerance else Fraction(0),
        bounds=bounds,
        rates=tuple(_rate(rate) for rate in actuation.rate),
        hold_down=upper(timescale.hold_down),
        hold_up=upper(timescale.hold_up),
        cooldown=timescale.cooldown.low if timescale.cooldown else None,
        lands=upper(timescale.lands),
        mode=actuation.mode.text if actuation.mode else "always",
        counts_commanded=actuation.count is not None and actuation.count.text == "commanded",
        integer=laws.counts_members(loop),
        source=loop,
    )


def upper(value: Quantity | None) -> Fraction:
    return value.high if value else Fraction(0)


def _rate(rate: Rate) -> RateLimit:
    way = rate.way.text if rate.way else "both"
    return RateLimit(
        rate.by.low if rate.by else None,
        rate.percent.low if rate.percent else None,
        rate.per.low if rate.per else Fraction(0),
        way in ("up", "both"),
        way in ("down", "both"),
    )


def _bounds(loop: Loop) -> Interval:
    stated = loop.actuation.bounds if loop.actuation else ()
    ends = [b for b in stated if isinstance(b, Quantity)]
    if len(stated) == 1 and len(ends) == 1:
        return interval(ends[0])
    low = stated[0].low if stated and isinstance(stated[0], Quantity) else None
    high = stated[-1].high if stated and isinstance(stated[-1], Quantity) else None
    return Interval(low, high)


def _trigger(parts: _Parts, loop: Loop) -> Tree | None:
    if not isinstance(loop.trigger, Formula) or loop.trigger.text.strip() == "always":
        return None
    return _read(parts, loop, loop.trigger.tree)


def _read(parts: _Parts, loop: Loop, condition: Tree) -> Tree:
    """Returns a condition of the loop: where it names the target's signal, what the sensor shows of it."""
    condition = _resolved(parts, condition)
    signal = _resolved(parts, loop.target.signal.tree) if loop.target and loop.target.signal else None
    sensed = _sensed(parts, loop)
    if not isinstance(signal, Name) or sensed is None or sensed == signal:
        return condition
    return rename(condition, lambda path: sensed if path == signal.path else path)


def _tree_of(parts: _Parts, value: object) -> Tree | None:
    if isinstance(value, Formula):
        return _resolved(parts, value.tree)
    if isinstance(value, Quantity) and value.exact:
        return Number(value.low, value.dimension)
    if isinstance(value, Quantity):
        path = f"<{value.place}>"
        parts.constants[path] = Constant(path, interval(value), value.varies, value.dimension, value.place)
        return Name(path)
    return None


def _sensed(parts: _Parts, loop: Loop) -> Tree | None:
    """Returns the target's signal through its sensor chain: samplers become `sampled`, windows `mean_over` etc."""
    if loop.target is None or loop.target.signal is None:
        return None
    tree = _resolved(parts, loop.target.signal.tree)
    scrape = None
    for link in loop.target.sensor:
        if link.duration is None:
            continue
        size = Number(link.duration.high, link.duration.dimension)
        if link.kind in ("scrape", "relist"):
            tree = Call("sampled", (tree, size))
            scrape = size if link.kind == "scrape" else scrape
        elif link.kind == "irate" and scrape is not None:
            tree = Call("mean_over", (tree, scrape))
        elif link.kind in ("mean", "rate"):
            tree = Call("mean_over", (tree, size))
        elif link.kind == "max":
            tree = Call("max_over", (tree, size))
    return tree


def _commands(parts: _Parts, loops: tuple[SampledLoop, ...]) -> None:
    """Adds each written signal as a command: its initial value from `from:`, else anywhere in the writers' bounds."""
    for loop in (loop for loop in loops if loop.signal):
        if loop.signal in parts.states:
            parts.gap(loop.name, f"writing the state {loop.signal} directly", loop.source.place)
            continue
        if loop.signal in parts.outputs or loop.signal in parts.constants:
            value = parts.constants.pop(loop.signal, None)
            parts.outputs.pop(loop.signal, None)
            if value is not None and loop.signal not in parts.commands:
                parts.commands[loop.signal] = Command(
                    loop.signal, value.range, EVERYTHING, loop.integer, value.dimension, value.place
                )
        known = parts.commands.get(loop.signal)
        start = _initial(loop)
        if known is None:
            known = Command(loop.signal, EVERYTHING, EVERYTHING, loop.integer, _dimension(loop), loop.source.place)
        if start is not None:
            known = replace(known, initial=start)
        parts.commands[loop.signal] = known
    for path, command in parts.commands.items():
        if command.initial == EVERYTHING:
            writers = [loop.bounds for loop in loops if loop.signal == path]
            lows = [b.low for b in writers if b.low is not None]
            highs = [b.high for b in writers if b.high is not None]
            parts.commands[path] = replace(
                command,
                initial=Interval(
                    min(lows) if lows else None, max(highs) if len(highs) == len(writers) and highs else None
                ),
            )


def _initial(loop: SampledLoop) -> Interval | None:
    stated = loop.source.actuation.initial if loop.source.actuation else None
    return interval(stated) if isinstance(stated, Quantity) else None


def _dimension(loop: SampledLoop) -> Dimension:
    ends = [b for b in loop.source.actuation.bounds if isinstance(b, Quantity)] if loop.source.actuation else []
    return ends[0].dimension if ends else ONE


def _close(parts: _Parts, loops: tuple[SampledLoop, ...]) -> Model:
    ordered = _sorted_outputs(parts)
    model = Model(
        parts.design,
        parts.states,
        parts.commands,
        parts.constants,
        {},
        ordered,
        loops,
        parts.design.promises,
        tuple(parts.gaps),
        tuple(parts.abstractions),
        parts.index,
    )
    inputs: dict[str, Dimension | None] = {}
    for tree in _trees(model):
        for node in walk(tree):
            if isinstance(node, Name) and model.kind(node.path) == "input":
                inputs[node.path] = None
    return replace(model, inputs=inputs)


def _trees(model: Model) -> list[Tree]:
    trees = [t for s in model.states.values() for t in (s.next, s.flow) if t is not None] + list(model.outputs.values())
    for loop in model.loops:
        trees += loop.trees
    return trees


def _sorted_outputs(parts: _Parts) -> dict[str, Tree]:
    """Outputs after what they read; a cycle not cut by a state, a command or `delayed` is an error."""
    done: dict[str, Tree] = {}
    active: list[str] = []

    def visit(path: str) -> None:
        if path in done or path not in parts.outputs:
            return
        if path in active:
            cycle = " -> ".join([*active[active.index(path) :], path])
            place = parts.places.get(path, Place(parts.design.file, 1, 1, 1, 1))
            parts.reading.problem(
                place, f"algebraic loop: {cycle}", "cut it by a state, or read one of them with delayed(x, d)"
            )
            return
        active.append(path)
        for name in _instant_names(parts.outputs[path]):
            visit(name)
        active.pop()
        done[path] = parts.outputs[path]

    for path in parts.outputs:
        visit(path)
    return done


def _instant_names(tree: Tree) -> list[str]:
    """Returns the names that a tree reads at the same instant."""
    if isinstance(tree, Call) and tree.function in ("delayed", "previous"):
        return []
    if isinstance(tree, Name):
        return [tree.path]

    return [name for child in children(tree) for name in _instant_names(child)]


__all__ = ["elaborate"]
