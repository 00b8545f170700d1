"""Elaborates workloads and components: their constants, states, commands and outputs, those of their parts inlined."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from functools import partial

from coherence.base.errors import InputError, Problem
from coherence.base.reads import built
from coherence.base.units import ONE, Dimension
from coherence.language import catalogue, names
from coherence.language.call_cases import weight_path
from coherence.language.design import Component
from coherence.language.document import Scalar, Table
from coherence.language.expressions import ExpressionError, parse
from coherence.language.expressions.tree import Name, Rename, Tree, rename
from coherence.language.schema_kinds import Formula, Quantity, Reading
from coherence.language.value_kinds import parse_quantity
from coherence.model.caps import capped
from coherence.model.draft import ModelDraft
from coherence.model.model import EVERYTHING, Command, Interval, State, interval

RETRIES_APART = "{0}.attempts = {0}.rate (retries do not add load in this reading)"


def add_workload(draft: ModelDraft, name: str) -> None:
    """Adds the rate of a workload as a constant, and its attempts as an output."""
    workload = draft.design.workload[name]
    if workload.rate is not None:
        draft.constant(f"{name}.rate", workload.rate)
        draft.outputs[f"{name}.attempts"] = Name(f"{name}.rate")
        draft.places[f"{name}.attempts"] = workload.place
        draft.abstractions.append(RETRIES_APART.format(name))
    _add_weights(draft, name, workload.cases)


def add_component(draft: ModelDraft, component: Component) -> None:
    """Adds the constants, outputs and states of a component, and those of its part.  Raises InputError."""
    name = component.name
    for key, duration in (component.takes or {}).items():
        draft.constant(f"{name}.{key}", duration)
    if isinstance(component.copies, Quantity):
        draft.constant(f"{name}.copies", component.copies)
    _add_weights(draft, name, component.cases)
    for key, value in component.constants.items():
        if isinstance(value, Quantity):
            draft.constant(f"{name}.{key}", value)
        elif isinstance(value, Formula) and not _names_a_thing(component, key, value):
            local = names.scope(component, draft.design)
            draft.outputs.put(f"{name}.{key}", partial(_renamed, value, local))
            draft.places[f"{name}.{key}"] = value.place
    if component.state is not None:
        _plant(draft, component)
    if component.part is not None:
        _from_part(draft, component, component.part.text)


def _add_weights(draft: ModelDraft, name: str, cases: Mapping[str, Quantity] | None) -> None:
    """Adds the weight of each case of a caller, which loops may write and expressions read."""
    for case, weight in (cases or {}).items():
        draft.constant(weight_path(name, case), weight)


def _renamed(formula: Formula, local: dict[str, str]) -> Tree:
    return rename(formula.tree, _by(local))


def _by(local: dict[str, str]) -> Rename:
    return lambda path: local.get(path, path)


def _names_a_thing(component: Component, key: str, value: Formula) -> bool:
    """Returns whether the key is an input that takes a whole component (`served_by: pool`)."""
    if component.part is None or not isinstance(value.tree, Name):
        return False
    return _is_thing(catalogue.mathematics(component.part.text)["inputs"], key)


def _plant(draft: ModelDraft, component: Component) -> None:
    """Adds the state of `state: "p' = expr"`: with `step: T` the value after each T, else the derivative."""
    assert component.state is not None
    match, formula = names.PLANT.fullmatch(component.state.text), names.state_formula(component)
    if match is None or formula is None:
        raise InputError([Problem(component.state.place, "this is not a plant", "write `p' = expression`")])
    place = component.state.place
    tree = rename(formula.tree, _by(names.scope(component, draft.design)))
    path = f"{component.name}.{match[1]}"
    initial = component.initial
    if initial is None:
        draft.gap(component.name, f"the initial value of {path} (`from:`)", component.place)
    step = component.step
    draft.states[path] = built(
        State,
        path=lambda: path,
        initial=lambda: interval(initial) if initial else Interval(Fraction(0), Fraction(0)),
        range=lambda: EVERYTHING,
        next=lambda: _read(formula, tree) if step else None,
        flow=lambda: None if step else _read(formula, tree),
        step=lambda: step.low if step else None,
        integer=lambda: False,
        dimension=lambda: initial.dimension if initial else ONE,
        place=lambda: place,
    )


def _read(formula: Formula, tree: Tree) -> Tree:
    """Returns the tree that was made of a formula, which is read with it."""
    assert formula.tree is not None
    return tree


def _from_part(draft: ModelDraft, component: Component, part: str) -> None:
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
        _part_state(draft, component, name, block, local_name)
    for name, block in blocks["commands"].entries.items():
        _part_command(draft, component, name, block)
    for name, node in blocks["outputs"].entries.items():
        tree = _part_tree(draft, node, local_name)
        path = f"{component.name}.{name}"
        if tree is not None and path not in draft.constants:
            draft.outputs[path], draft.places[path] = tree, component.place
    draft.abstractions += (
        words for words in catalogue.omissions("components", part) if words not in draft.abstractions
    )


def _is_thing(inputs: Table, key: str) -> bool:
    declared = inputs.get(key)
    kind = declared.get("kind") if isinstance(declared, Table) else None
    return isinstance(kind, Scalar) and kind.text == "component"


def _part_tree(draft: ModelDraft, node: object, local_name: Rename) -> Tree | None:
    text = node.get("is") if isinstance(node, Table) else node
    if not isinstance(text, Scalar):
        return None
    try:
        return rename(parse(text.text), local_name)
    except ExpressionError as error:
        draft.reading.problem(text.place, f"{error} in '{text.text}'", error.remedy)
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


def _part_state(draft: ModelDraft, component: Component, name: str, block: object, local_name: Rename) -> None:
    if not isinstance(block, Table):
        return
    path = f"{component.name}.{name}"
    kind = block.get("type")
    following, flow = (
        _part_tree(draft, block.get(key), local_name) if block.get(key) else None for key in ("next", "flow")
    )
    step = _bound(block, "step", draft.reading)
    draft.states[path] = built(
        State,
        path=lambda: path,
        initial=lambda: _part_start(draft, component, block),
        range=lambda: capped(draft.design, path, _range(block, draft.reading), ("reject",)),
        next=lambda: following,
        flow=lambda: flow,
        step=lambda: step.low if step else None,
        integer=lambda: isinstance(kind, Scalar) and kind.text == "int",
        dimension=lambda: _unit(block),
        place=lambda: component.place,
    )


def _part_start(draft: ModelDraft, component: Component, block: Table) -> Interval:
    """Returns where a state of a part begins: as the component states it, else as the part does, else at 0."""
    stated = component.initial or _bound(block, "from", draft.reading)
    return interval(stated) if stated else Interval(Fraction(0), Fraction(0))


def _part_command(draft: ModelDraft, component: Component, name: str, block: object) -> None:
    path = f"{component.name}.{name}"
    initial = _bound(block, "from", draft.reading)
    kind = block.get("type") if isinstance(block, Table) else None
    integer = isinstance(kind, Scalar) and kind.text == "int"
    start = interval(initial) if initial else EVERYTHING
    draft.commands[path] = Command(path, start, _range(block, draft.reading), integer, _unit(block), component.place)
