"""Decides by names alone which loops depend on which, so that a design without feedback pays nothing.

A component that computes (a state, a part, an output expression) is taken whole, so a dependence may be
reported that the model does not have; never the other way round.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from itertools import permutations

from coherence.base.graphs import reached
from coherence.base.queries import cached, carried
from coherence.language.design import Component, Design, Loop, Relay
from coherence.language.expressions import names as names_of
from coherence.language.names import bare_names, component_formulas, loop_formulas
from coherence.language.schema_kinds import Formula
from coherence.model.measured_signals import derived_outputs

Reach = Mapping[str, frozenset[str]]


@carried
@cached
def reach(design: Design) -> Reach:
    """Loop -> the loops (itself among them where it sees its own effect) that may change what it reads."""
    depends: dict[str, set[str]] = {}
    node, loops, components = _nodes(design), design.loops, design.components
    for name, loop in loops.items():
        depends.setdefault(name, set()).update(map(node, _read_by_loop(loop)))
        if (actuation := loop.actuation) is not None and actuation.signal is not None:
            depends.setdefault(node(actuation.signal.text), set()).add(name)
    for name, component in components.items():
        depends.setdefault(name, set()).update(map(node, _read_by(component)))
    for path, tree in derived_outputs(design).items():
        depends.setdefault(node(path), set()).update(map(node, names_of(tree())))
    return {name: frozenset(_reached(depends, depends[name]) & loops.keys()) for name in loops}


def feeds_back(design: Design) -> bool:
    """Returns whether any loop may see its own effect."""
    return any(name in found for name, found in reach(design).items())


def flows_feed_back(design: Design) -> bool:
    """Returns whether any component flows and reads itself, through others or not.

    Loops do not count as a way, but for those that switch without a period.
    """
    node = _nodes(design)
    reads = {name: set(map(node, _read_by(component))) for name, component in design.components.items()}
    for loop in design.loops.values():
        if isinstance(loop.trigger, Relay) and (loop.timescale is None or loop.timescale.period is None):
            read = (path for f in loop_formulas(loop) for path in names_of(f.tree))
            reads.setdefault(loop.name, set()).update(map(node, read))
            if loop.actuation and loop.actuation.signal:
                reads.setdefault(node(loop.actuation.signal.text), set()).add(loop.name)
    flowing = (c for c in design.components.values() if c.part or (c.state is not None and c.step is None))
    return any(component.name in _reached(reads, reads[component.name]) for component in flowing)


def chained(design: Design) -> bool:
    """Returns whether a loop with a smooth law may read what another such loop changes, without the other reading
    it."""
    following = [loop.name for loop in design.loops.values() if _follows(loop)]
    if len(following) < 2:
        return False
    reached = reach(design)
    return any(one in reached[other] and other not in reached[one] for one, other in permutations(following, 2))


def _follows(loop: Loop) -> bool:
    """Returns whether the loop writes always, in proportion or to an expression."""
    trigger, actuation = loop.trigger, loop.actuation
    always = trigger is None or (isinstance(trigger, Formula) and trigger.text.strip() == "always")
    if actuation is None or actuation.signal is None or loop.rules or not always:
        return False
    law = actuation.law.text if actuation.law else "set" if actuation.to else "step" if actuation.by else "proportional"
    return law == "proportional" or (law == "set" and isinstance(actuation.to, Formula))


@cached
def _read_by_loop(loop: Loop) -> tuple[str, ...]:
    return tuple(path for f in loop_formulas(loop) for path in names_of(f.tree))


@cached
def _read_by(component: Component) -> tuple[str, ...]:
    law = component.state.text.partition("=")[2] if component.state else ""  # what stands before is what it moves
    words = re.findall(r"[a-z][a-z0-9_.]*", law)
    return (*words, *(path for f in component_formulas(component) for path in names_of(f.tree)))


def _nodes(design: Design) -> Callable[[str], str]:
    """Returns what tells the node of a name: the component where it computes, else the full path."""
    bare = bare_names(design)
    computing = {name for name, component in design.components.items() if _computes(component)}

    def node(path: str) -> str:
        full = path if "." in path else bare.get(path, path)
        thing = full.partition(".")[0]
        return thing if thing in computing else full

    return node


@cached
def _computes(component: Component) -> bool:
    """Returns whether the component has a part, a state or an output that is computed."""
    return bool(component.part or component.state or any(component_formulas(component)))


def _reached(depends: Mapping[str, set[str]], start: set[str]) -> set[str]:
    return reached(start, lambda node: depends.get(node, ()))
