"""Lowers what boundaries make of the values that cross them: of a command its effect, of a value what is seen of it.

    effect = gain x command, rounded down to a multiple of `granularity`; where members are counted and none is stated,
             to a whole one
    seen   = reading_gain x value + noise

A command that is changed on its way is the signal `pool.desired.commanded`, and `pool.desired` is its effect.  A gain
that is a range is one unknown constant, the same for all that crosses.  Where loops write one signal across different
boundaries, nothing of this is lowered, and proofs about it are taken back.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from functools import partial

from coherence.base.queries import cached
from coherence.base.reads import unnoted
from coherence.language.design import Design, Loop
from coherence.language.expressions.tree import Arithmetic, Call, Name, Number, Tree
from coherence.language.infrastructure import Boundary
from coherence.language.schema_kinds import Quantity
from coherence.language.shared_rates import around
from coherence.model.boundaries import between, stands_in
from coherence.model.boundary_noise import noise_of
from coherence.model.draft import ModelDraft
from coherence.model.model import SampledLoop

COMMANDED = ".commanded"
UNIT = Fraction(1)


def effect_path(path: str) -> str:
    """Returns the signal that a command brings about, which loops name in their text."""
    return path.removesuffix(COMMANDED)


def command_path(draft: ModelDraft, loop: Loop, path: str) -> str:
    """Returns the signal that a loop writes: its own one, or the command of which that one is the effect."""
    if not path or not loop.inside:
        return path
    with unnoted():  # what is not lowered is not read
        alike = _alike(draft, loop, path)
    changed = alike and any(True for _ in _changes(draft.design, loop, path))
    return f"{path}{COMMANDED}" if changed else path


def _changes(design: Design, loop: Loop, path: str) -> Iterator[tuple[Boundary, str, Quantity]]:
    """Yields what boundaries on the way make of a command, in the order crossed; who takes it has read those beside."""
    thing = path.partition(".")[0]
    inward = {boundary.name: rank for rank, boundary in enumerate(reversed(around(design, thing)))}
    crossed = sorted(between(design, loop, thing), key=lambda pair: inward.get(pair[0].name, -1))
    for (boundary, lies), key in ((pair, key) for pair in crossed for key in ("gain", "granularity")):
        stated = boundary.constants.get(key)
        if isinstance(stated, Quantity) and not (key == "gain" and stated.low == stated.high == UNIT) and lies:
            yield boundary, key, stated


def _alike(draft: ModelDraft, loop: Loop, path: str) -> bool:
    """Decides whether all loops that write a signal cross the same boundaries to it."""
    mine = _crossed(draft.design, loop, path)
    others = (
        other for other in draft.design.loops.values() if other is not loop and written_signal(draft, other) == path
    )
    return all(_crossed(draft.design, other, path) == mine for other in others)


def _crossed(design: Design, loop: Loop, path: str) -> list[str]:
    return [boundary.name for boundary, _, _ in _changes(design, loop, path)]


def written_signal(draft: ModelDraft, loop: Loop) -> str:
    """Returns the full path of the signal that a loop writes; nothing where it states none."""
    return draft.index.get(loop.written, loop.written)


def make_room(draft: ModelDraft, loops: tuple[SampledLoop, ...]) -> None:
    """Moves what is declared of a signal to its command, where boundaries change the command."""
    for path in dict.fromkeys(loop.signal for loop in loops if loop.signal.endswith(COMMANDED)):
        effect = effect_path(path)
        if effect in draft.commands:
            draft.commands[path] = replace(draft.commands.pop(effect), path=path)
        if effect in draft.constants:
            draft.constants[path] = replace(draft.constants.pop(effect), path=path)


def add_effects(draft: ModelDraft, loops: tuple[SampledLoop, ...]) -> None:
    """Adds the effect of each command that boundaries change, as an output."""
    for loop in loops:
        if loop.signal.endswith(COMMANDED) and loop.signal in draft.commands:
            effect = effect_path(loop.signal)
            draft.outputs.put(effect, partial(_effect, draft, loop.source, loop.signal))
            draft.places[effect] = loop.source.place


def _effect(draft: ModelDraft, loop: Loop, path: str) -> Tree:
    tree: Tree = Name(path)
    changes = list(_changes(draft.design, loop, effect_path(path)))
    for boundary, key, stated in changes:
        if key == "gain":
            tree = Arithmetic("*", gain_of(draft, boundary, key, stated), tree)
        elif stated.low > 0:
            step = Number(stated.low, stated.dimension)
            tree = Arithmetic("*", Call("floor", (Arithmetic("/", tree, step),)), step)
    if draft.commands[path].integer and not any(key == "granularity" for _, key, _ in changes):
        tree = Call("floor", (tree,))
    return tree


def gain_of(draft: ModelDraft, boundary: Boundary, key: str, stated: Quantity) -> Tree:
    """Returns a gain: its value, or the constant that stands for one of its range."""
    if stated.exact:
        return Number(stated.low)
    path = f"{boundary.name}.{key}"
    draft.constant(path, stated)
    return Name(path)


def seen_at(draft: ModelDraft, loop: Loop, path: str, age: Fraction, value: Tree) -> Tree:
    """Returns what boundaries leave of a reading of a name: what one of them adds, the next one multiplies."""
    for boundary, gain in _readings(draft.design, loop, path) if loop.inside else ():
        if gain is not None:
            value = Arithmetic("*", gain_of(draft, boundary, "reading_gain", gain), value)
        noise = noise_of(draft, loop, boundary, path, age) if boundary.name not in _unordered(draft.design) else None
        value = value if noise is None else Arithmetic("+", value, noise)
    return value


def _readings(design: Design, loop: Loop, path: str) -> list[tuple[Boundary, Quantity | None]]:
    """Returns the boundaries that a reading crosses, outward and then inward, and what they multiply it with."""
    gains: dict[str, tuple[Boundary, Quantity | None]] = {}
    for boundary, lies in between(design, loop, path.partition(".")[0]):
        gain = _reading_gain(boundary)
        gains |= {boundary.name: (boundary, gain)} if lies else {}
    here, depth = stands_in(design, loop) or (), {name: len(around(design, name)) for name in gains}
    outward = sorted((name for name in gains if name not in here), key=lambda name: -depth[name])
    inward = sorted((name for name in gains if name in here), key=lambda name: depth[name])
    return [gains[name] for name in (*outward, *inward)]


def _reading_gain(boundary: Boundary) -> Quantity | None:
    stated = boundary.constants.get("reading_gain")
    return stated if isinstance(stated, Quantity) and not (stated.low == stated.high == UNIT) else None


@cached
@unnoted()
def _unordered(design: Design) -> frozenset[str]:
    """Returns the boundaries around a thing or a loop that are not nested with another one there that has a gain."""
    things = [{boundary.name for boundary in around(design, thing)} for thing in design.components]
    loops = [stands_in(design, loop) or () for loop in design.loops.values()]
    return frozenset(
        name
        for names in (*things, *loops)
        for name, other in itertools.permutations(names, 2)
        if _reading_gain(design.boundaries[other]) is not None and not _is_nested(design, name, other)
    )


def _is_nested(design: Design, name: str, other: str) -> bool:
    ways = ((name, other), (other, name))
    return sum(inner in {boundary.name for boundary in around(design, outer)} for outer, inner in ways) == 1
