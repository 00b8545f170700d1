"""Cuts a model down to the signals and loops that can influence given signals."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from coherence.base.graphs import cycles, reached
from coherence.base.queries import cached
from coherence.language.expressions import names as names_of
from coherence.language.expressions.tree import Tree
from coherence.model.model import Model, SampledLoop, some_outputs

VALUE_OF = "a value of "  # begins the words that ask for the value of an input


def reads(loop: SampledLoop) -> frozenset[str]:
    """Signals and loops that a loop's decision depends on."""
    return frozenset(name for tree in loop.trees for name in names_of(tree))


def modes_read(model: Model) -> frozenset[str]:
    """Returns the loops whose being on or off a flow, a step or an output reads: what they do without a command.

    What another loop does because of it shows in that loop's command.
    """
    trees = [*model.outputs.values(), *(tree for s in model.states.values() for tree in (s.next, s.flow) if tree)]
    read = {name for tree in trees for name in names_of(tree)}
    return frozenset(loop.name for loop in model.loops if loop.relay and loop.name in read)


def influences(model: Model, targets: Iterable[str]) -> frozenset[str]:
    """Returns every signal and loop on which the targets depend, themselves included.

    A loop's name stands for its mode, which depends on what its trigger reads, not on what it writes.
    """
    loops, writers = _loops_by_name(model), _loops_by_signal(model)

    def before(path: str) -> Iterator[str]:
        yield from reads(loops[path]) if path in loops else ()
        yield from names_of(model.outputs[path]) if path in model.outputs else ()
        state = model.states.get(path)
        yield from (name for tree in (state.trees if state is not None else ()) for name in names_of(tree))
        yield from writers.get(path, ()) if path in model.commands else ()

    return frozenset(reached(targets, before))


@cached
def _loops_by_name(model: Model) -> dict[str, SampledLoop]:
    return {loop.name: loop for loop in model.loops}


@cached
def _loops_by_signal(model: Model) -> dict[str, tuple[str, ...]]:
    """Returns the names of the loops that write each signal; one that leaves it alone (`to: unset`) writes nothing."""
    writers: dict[str, tuple[str, ...]] = {}
    for loop in model.loops:
        if loop.law != "unset":
            writers[loop.signal] = (*writers.get(loop.signal, ()), loop.name)
    return writers


def signals_in(model: Model, tree: Tree) -> frozenset[str]:
    """Returns the names that an expression reads, with those that outputs read in their place."""
    outputs = model.outputs
    return frozenset(reached(names_of(tree), lambda path: names_of(outputs[path]) if path in outputs else ()))


def sliced(model: Model, targets: Iterable[str]) -> Model:
    """Returns the model with only what influences the targets."""
    needed = influences(model, targets)
    needed |= {loop.signal for loop in model.loops if loop.name in needed and loop.signal}
    return replace(
        model,
        states={k: v for k, v in model.states.items() if k in needed},
        commands={k: v for k, v in model.commands.items() if k in needed},
        constants={k: v for k, v in model.constants.items() if k in needed},
        inputs={k: v for k, v in model.inputs.items() if k in needed},
        outputs=some_outputs(model, needed),
        loops=tuple(loop for loop in model.loops if loop.name in needed),
        promises={},
    )


def feedback_groups(model: Model) -> list[tuple[SampledLoop, ...]]:
    """Loops that influence each other (or themselves) through signals: strongly connected, in order of declaration."""
    by_name = _loops_by_name(model)
    reach = {loop.name: influences(model, [*reads(loop)]) & by_name.keys() for loop in model.loops}
    group_of = {name: frozenset(group) for group in cycles(reach) for name in group}
    groups: dict[frozenset[str], list[SampledLoop]] = {}
    for name, loop in by_name.items():
        if name in group_of:
            groups.setdefault(group_of[name], []).append(loop)
    return [tuple(group) for group in groups.values()]


def lacking(model: Model, targets: tuple[str, ...], inputs: Iterable[str]) -> str:
    """Returns, in words, the first thing that a run of the targets needs: what the model could not carry, else the
    value of an input.
    """
    return blocked(model, targets) or next(map(value_needed, inputs), "")


def value_needed(path: str) -> str:
    """Returns, in words, the value of an input, with the key that states it."""
    thing, _, key = path.partition(".")
    where = f" (a number, or a range as in `components: {{{thing}: {{{key}: 0 .. 1}}}}`)" if key else ""
    return f"{VALUE_OF}{path}{where}"


def blocked(model: Model, targets: tuple[str, ...]) -> str:
    """Returns the first thing that the slice needs and the model could not carry, in words."""
    needed = influences(model, targets)
    for gap in model.gaps:
        loop = model.design.loops.get(gap.of)
        signal = loop.written if loop is not None else ""
        if (
            gap.of in needed
            or (signal and model.resolve(signal) in needed)
            or any(k.startswith(f"{gap.of}.") for k in needed)
        ):
            return gap.needs
    return ""
