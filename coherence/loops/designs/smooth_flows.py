"""Reads flows of any shape as x' = f(x(t), x(t - delay)) over arrays, with one delay, for the search of limit cycles.

Products and quotients of states, `exp` and `log`, and kinks beside them: what no switching loop carries.

    >>> from coherence.model.elaborate import elaborate
    >>> from coherence.language.reading import read_text
    >>> flow = "1.8 * a.x * (1 - delayed(a.x, 1 s)) / 1 s"
    >>> model = elaborate(read_text(f'coherence: 1\\ncomponents: {{a: {{state: "x\\' = {flow}", from: 0.5}}}}'))
    >>> answer = smooth_search(model, ["a.x"], {"a.x": Fraction(1, 2)})
    >>> f"{answer.attracting[0].period:.4f}"
    '4.1835'
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from coherence.language.expressions.evaluate import NotExactError
from coherence.language.expressions.lower_numpy import numpy_function
from coherence.language.expressions.tree import Call, Name, Number, Tree, children, rebuilt, rename
from coherence.loops.cycles.cycle_search_result import CycleSearchResult
from coherence.loops.cycles.delayed_runs_smooth import Rate
from coherence.loops.cycles.flows import ShapeError
from coherence.loops.cycles.smooth import smooth_cycles
from coherence.model.model import Model

PAST = "\0past "
NOW = Fraction(0)


def smooth_search(
    model: Model, states: Sequence[str], levels: Mapping[str, Fraction], *, scale: float = 0.0
) -> CycleSearchResult:
    """Returns the cycle that the flows of some states come to from `levels`, at which everything else stands.

    `scale`: seconds in which the states change much (default: estimated).  Raises ShapeError.
    """
    flows = [_unfolded(model, path) for path in states]
    delays = sorted({delay for flow in flows for delay in _delays(flow, NOW)})
    if len(delays) > 1:
        known = " and ".join(f"{float(delay):g} s" for delay in delays)
        raise ShapeError(f"delays of {known}: the search of cycles of such flows takes one delay")
    start = [float(levels[path]) for path in states]
    rate = _rate([_read_late(flow, NOW) for flow in flows], states, levels)
    return smooth_cycles(rate, len(states), delay=float(next(iter(delays), 0)), starts=[start], scale=scale)


def _unfolded(model: Model, path: str) -> Tree:
    """Returns the flow of a state with every output in it written out."""
    flow = model.states[path].flow
    if flow is None:
        raise ShapeError(f"{path} moves in steps")
    return _written_out(flow, model)


def _written_out(tree: Tree, model: Model) -> Tree:
    return rename(tree, lambda path: _written_out(model.outputs[path], model) if path in model.outputs else path)


def _delays(tree: Tree, late: Fraction) -> set[Fraction]:
    """Returns the delays at which signals are read.  Raises ShapeError for other words of the past."""
    match tree:
        case Name():
            return {late} - {NOW}
        case Call(function="delayed", arguments=(inner, Number(value=more))):
            return _delays(inner, late + more)
        case Call(function=name) if name in ("delayed", "mean_over", "max_over", "sampled", "previous"):
            raise ShapeError(f"{name}() in flows whose cycles are searched by one delay alone")
    return {delay for part in children(tree) for delay in _delays(part, late)}


def _read_late(tree: Tree, late: Fraction) -> Tree:
    """Returns the tree with what is read late under names of its own."""
    match tree:
        case Name(path=path, span=span):
            return Name(PAST + path, span) if late else tree
        case Call(function="delayed", arguments=(inner, Number(value=more))):
            return _read_late(inner, late + more)
    return rebuilt(tree, lambda part: _read_late(part, late))


def _rate(flows: Sequence[Tree], states: Sequence[str], levels: Mapping[str, Fraction]) -> Rate:
    still = {path: float(level) for path, level in levels.items()}
    still |= {PAST + path: level for path, level in still.items()}
    late_states = [PAST + path for path in states]
    try:
        functions = [numpy_function(flow) for flow in flows]
    except NotExactError as error:
        raise ShapeError(str(error)) from None

    def rate(now: Any, past: Any) -> Any:
        seen = {**still, **dict(zip(states, now, strict=True))}
        seen |= dict(zip(late_states, past, strict=True))
        rates = np.empty(np.shape(now))
        try:
            for row, function in enumerate(functions):
                rates[row] = function(seen)
        except KeyError as error:
            raise ShapeError(f"needs a value of {str(error.args[0]).removeprefix(PAST)}") from None
        return rates

    return rate
