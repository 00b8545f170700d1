"""Writes what a loop reads: a signal through its sensors, or what each member has of a total."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction

from coherence.language.expressions.tree import Arithmetic, Call, Name, Number, Tree, names, walk
from coherence.language.sentences import SensorLink
from coherence.language.words import COUNTS, STATES
from coherence.model.boundary_gains import COMMANDED


def through_sensor(tree: Tree, chain: Sequence[SensorLink]) -> Tree:
    """Returns an expression through a sensor chain: samplers become `sampled`, windows `mean_over` etc."""
    scrape = None
    for link in chain:
        if link.duration is None or not link.duration.high:  # what takes no time shows the signal as it is
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


def of_each_member(total: Tree, members: Tree, least: Fraction | None) -> Tree:
    """Returns what each member has of a total; where there may be none (`least`), what one would have."""
    some = members if least is not None and least > 0 else Call("max", (members, Number(Fraction(1))))
    return Arithmetic("/", total, some)


def is_divided(tree: Tree, outputs: Mapping[str, Tree], written: str) -> bool:
    """Decides whether an expression divides by what a loop writes, or by a count of the same members, at any depth.

    A total over the members, or a utilization of them, is of each member already.
    """
    thing = written.partition(".")[0]
    words = (*COUNTS["available"], *STATES["wanted"])
    counts = {written, f"{written}{COMMANDED}", *(f"{thing}.{word}" for word in words)}
    quotients = (node for node in _everywhere(tree, outputs) if isinstance(node, Arithmetic) and node.op == "/")
    return any(counts & _computed_from(node.right, outputs) for node in quotients)


def is_made_of(tree: Tree, outputs: Mapping[str, Tree], is_constant: Callable[[str], bool]) -> bool:
    """Decides whether an expression is a sum, a product or a quotient of some constants alone."""
    if not all(isinstance(node, (Arithmetic, Name, Number)) for node in _everywhere(tree, outputs)):
        return False
    return all(path in outputs or is_constant(path) for path in _computed_from(tree, outputs))


def _computed_from(tree: Tree, outputs: Mapping[str, Tree]) -> frozenset[str]:
    """Returns the names of an expression and of the outputs behind them."""
    reached: set[str] = set()
    waiting = list(names(tree))
    while waiting:
        path = waiting.pop()
        if path not in reached:
            reached.add(path)
            waiting += names(outputs[path]) if path in outputs else ()
    return frozenset(reached)


def _everywhere(tree: Tree, outputs: Mapping[str, Tree]) -> list[Tree]:
    """Returns every node of an expression and of the outputs that it is computed from."""
    trees = [tree, *(outputs[path] for path in sorted(_computed_from(tree, outputs)) if path in outputs)]
    return [node for each in trees for node in walk(each)]
