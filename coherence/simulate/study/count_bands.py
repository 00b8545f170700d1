"""Finds how far counts of requests may go without a condition turning: within its band each may change unseen.

A comparison whose sides only grow, or only fall, with each count turns at the corners of a box of counts alone, so the
largest box without a turn is found by halving.  Any other reading of a count has the band of its present value.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from coherence.language.expressions.evaluate import evaluate
from coherence.language.expressions.tree import Arithmetic, Call, Compare, Held, Logic, Name, Tree, rename, walk
from coherence.model.model import Model
from coherence.simulate.execute.slices import signals_in
from coherence.simulate.execute.views import View

Band = tuple[int, int]
Counts = Mapping[str, int]
MOST = 2**62
FARTHEST = 2**40  # beyond it a count has no other end


@dataclass(frozen=True)
class CountedSignal:
    """A signal that runs count: the counts that it depends on, and the one with which it grows (`grows`), if any."""

    counts: tuple[str, ...]
    grows: str = ""


@dataclass(frozen=True)
class CountScene:
    """What a condition is looked at with: the counts now, and a view of the run under other counts."""

    signals: Mapping[str, CountedSignal]
    counts: Counts
    view: Callable[[Counts], View]
    turns: Callable[[Tree], bool]  # may an expression change between instants, whatever is counted?


def expanded(model: Model, tree: Tree, signals: Mapping[str, CountedSignal]) -> Tree:
    """Returns a condition with the expression of each output in its place that depends on a counted signal."""

    def own(path: str) -> str | Tree:
        output = model.outputs.get(path)
        reads = output is not None and not signals.keys().isdisjoint(signals_in(model, output))
        return expanded(model, output, signals) if output is not None and reads else path

    return rename(tree, own)


def bands_of(tree: Tree, scene: CountScene) -> dict[str, Band]:
    """Returns the bands of the counts that a condition reads, in which it does not turn."""
    bands: dict[str, Band] = {}
    for name, band in _bands(tree, scene):
        least, most = bands.get(name, (0, MOST))
        bands[name] = max(least, band[0]), min(most, band[1])
    return bands


def _bands(tree: Tree, scene: CountScene) -> Iterator[tuple[str, Band]]:
    match tree:
        case Logic(terms=terms):
            for term in terms:
                yield from _bands(term, scene)
        case Held(condition=condition):
            yield from _bands(condition, scene)
        case Compare():
            yield from _of_comparison(tree, scene)
        case _:
            yield from _as_they_are(_counts_in(tree, scene), scene)


def _counts_in(tree: Tree, scene: CountScene) -> tuple[str, ...]:
    signals = (scene.signals[node.path] for node in walk(tree) if isinstance(node, Name) and node.path in scene.signals)
    return tuple(dict.fromkeys(name for signal in signals for name in signal.counts))


def _as_they_are(names: tuple[str, ...], scene: CountScene) -> Iterator[tuple[str, Band]]:
    yield from ((name, (scene.counts[name], scene.counts[name])) for name in names)


def _of_comparison(tree: Compare, scene: CountScene) -> Iterator[tuple[str, Band]]:
    names, signs = _counts_in(tree, scene), dict[str, int]()
    if tree.op in ("<", "<=", ">", ">=") and not scene.turns(tree):
        signs = {n: sign for n, sign in _signs(Arithmetic("-", tree.left, tree.right), scene).items() if sign}
    yield from _as_they_are(tuple(name for name in names if name not in signs), scene)
    if not signs:
        return
    holds = _holds(tree, scene, {})
    above, below = (_farthest(tree, scene, signs, holds, way) for way in (1, -1))
    for name, sign in signs.items():
        up, down = (above, below) if sign > 0 else (below, above)
        now = scene.counts[name]
        yield name, (max(0, now - down), min(MOST, now + up))


def _farthest(tree: Compare, scene: CountScene, signs: Mapping[str, int], holds: bool, way: int) -> int:
    """Returns how far all counts may go one way, each by its sign, before a comparison turns."""

    def same(far: int) -> bool:
        moved = {name: max(0, scene.counts[name] + sign * way * far) for name, sign in signs.items()}
        return _holds(tree, scene, moved) is holds

    high = 1
    while same(high):
        high *= 2
        if high > FARTHEST:
            return MOST
    low = high // 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if same(middle) else (low, middle)
    return low


def _holds(tree: Tree, scene: CountScene, moved: Counts) -> bool:
    return bool(evaluate(tree, scene.view({**scene.counts, **moved})))


def _signs(tree: Tree, scene: CountScene) -> dict[str, int]:
    """Returns the sign with which an expression moves with each count; 0: unknown, the others hold while it stays."""
    match tree:
        case Name(path=path) if path in scene.signals:
            own = scene.signals[path]
            return {name: int(name == own.grows) for name in own.counts}
        case Arithmetic(op="+" | "-" as op, left=left, right=right):
            return _joined(_signs(left, scene), _signs(right, scene), 1 if op == "+" else -1)
        case Arithmetic(op="*" | "/" as op, left=left, right=right):
            if op == "*" and not _counts_in(left, scene):
                left, right = right, left
            stays = dict.fromkeys(_counts_in(right, scene), 0)
            factor = evaluate(right, scene.view(scene.counts))
            return _joined(stays, _signs(left, scene), (factor > 0) - (factor < 0))
        case Call(function="min" | "max", arguments=arguments):
            signs: dict[str, int] = {}
            for argument in arguments:
                signs = _joined(signs, _signs(argument, scene), 1)
            return signs
    return dict.fromkeys(_counts_in(tree, scene), 0)


def _joined(one: Mapping[str, int], other: Mapping[str, int], sign: int) -> dict[str, int]:
    joined = dict(one)
    for name, own in other.items():
        joined[name] = own * sign if joined.get(name, own * sign) == own * sign else 0
    return joined
