"""Elaborates a design to its model: inlines parts, resolves names, finds algebraic loops, lists gaps."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from coherence.base.errors import InputError
from coherence.base.places import Place
from coherence.base.queries import CARRIED, cached
from coherence.base.reads import ReadTable, unnoted
from coherence.base.units import Dimension
from coherence.language import names
from coherence.language.design import Design
from coherence.language.expressions.tree import Call, Name, Tree, children, walk
from coherence.model.boundaries import uncrossed
from coherence.model.components import add_component, add_workload
from coherence.model.draft import ModelDraft
from coherence.model.measured_signals import derived_outputs, simplifications
from coherence.model.model import Model, SampledLoop
from coherence.model.sampled_loops import add_commands, sampled_loop


@cached
def model_of(design: Design) -> Model:
    """Returns the model of a design, elaborated once.  Raises InputError as `elaborate` does."""
    return elaborate(design)


CARRIED[(model_of,)] = lambda model, edited: replace(model, design=edited)


def elaborate(design: Design) -> Model:
    """Returns the model of a design.  Raises InputError for algebraic loops and malformed plants.

    Elaborating reads nothing: whoever takes a state, a loop or an output of the model reads what it is made of.
    """
    with unnoted():
        return _elaborated(design)


def _elaborated(design: Design) -> Model:
    draft = ModelDraft(design, index=dict(names.bare_names(design)))
    for workload in design.workload.values():
        add_workload(draft, workload.name)
    for component in design.components.values():
        add_component(draft, component)
    for path, tree in derived_outputs(design).items():
        draft.outputs.put(path, tree)
        draft.abstractions += simplifications(design, path)
    sampled = [sampled_loop(draft, order, loop) for order, loop in enumerate(design.loops.values())]
    loops = tuple(sorted((loop for loop in sampled if loop), key=lambda loop: (loop.rank, loop.order)))
    loops = add_commands(draft, loops)
    draft.abstractions += [f"no loop acts or looks across the boundary {name}" for name in sorted(uncrossed(design))]
    model = _close(draft, loops)
    if draft.reading.problems:
        raise InputError(draft.reading.problems)
    return model


def _close(draft: ModelDraft, loops: tuple[SampledLoop, ...]) -> Model:
    ordered = _sorted_outputs(draft)
    model = Model(
        draft.design,
        draft.states,
        draft.commands,
        draft.constants,
        {},
        ordered,
        loops,
        draft.design.promises,
        tuple(draft.gaps),
        tuple(draft.abstractions),
        draft.index,
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


def _sorted_outputs(draft: ModelDraft) -> ReadTable[Tree]:
    """Outputs after what they read; a cycle not cut by a state, a command or `delayed` is an error."""
    done: ReadTable[Tree] = ReadTable()
    active: list[str] = []

    def visit(path: str) -> None:
        if path in done or path not in draft.outputs:
            return
        if path in active:
            cycle = " -> ".join([*active[active.index(path) :], path])
            place = draft.places.get(path, Place(draft.design.file, 1, 1, 1, 1))
            draft.reading.problem(
                place, f"algebraic loop: {cycle}", "cut it by a state, or read one of them with delayed(x, d)"
            )
            return
        active.append(path)
        for name in _instant_names(draft.outputs[path]):
            visit(name)
        active.pop()
        done.put(path, partial(draft.outputs.__getitem__, path))

    for path in draft.outputs:
        visit(path)
    return done


def _instant_names(tree: Tree) -> list[str]:
    """Returns the names that a tree reads at the same instant."""
    if isinstance(tree, Call) and tree.function in ("delayed", "previous"):
        return []
    if isinstance(tree, Name):
        return [tree.path]

    return [name for child in children(tree) for name in _instant_names(child)]
