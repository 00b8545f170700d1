"""Fits the step time to a running server's own counters, by least squares.

Over any stretch of time the seconds are those of its steps: seconds = fixed steps + per_prefill_token p +
per_sequence n + per_context_token c, with the tokens p and n and the token-steps c of that stretch.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from coherence.base.errors import UsageError
from coherence.simulate.serving.server import Experts, InferenceServer, StepTime

if TYPE_CHECKING:
    from numpy.typing import NDArray

FULL = 0.9  # of the cache: beyond it requests may have been preempted
ENOUGH = 8  # stretches that suffice without those in which the cache was nearly full
LEAST_STEPS = 50  # a step cut by the edge of a stretch is then at most a fiftieth of it


@dataclass(frozen=True)
class Counters:
    """What a server logs.  `edges`: n + 1 times; per interval: tokens prefilled and written; at the edges: tokens held.

    `first`, `last`: times of the first and last token of requests (infinite: not yet), in no order.
    """

    edges: NDArray[Any]
    prefilled: NDArray[Any]
    written: NDArray[Any]
    held: NDArray[Any]
    first: NDArray[Any]
    last: NDArray[Any]


def until(counters: Counters, time: float) -> Counters:
    """Returns what was known at `time`: whole intervals up to it, and later tokens not yet seen."""
    import numpy as np

    known = int(np.searchsorted(counters.edges, time, side="right"))
    first, last = (np.where(t <= time, t, np.inf) for t in (counters.first, counters.last))
    intervals = slice(0, max(known - 1, 0))
    prefilled, written = counters.prefilled[intervals], counters.written[intervals]
    return Counters(counters.edges[:known], prefilled, written, counters.held[:known], first, last)


def steps(counters: Counters) -> NDArray[Any]:
    """Steps of each interval: tokens of decoding requests over the mean number of requests that decode.

    A first token is written by a prefill, not by a decode.  Not a number where nothing decodes.
    """
    import numpy as np

    begin, end = counters.edges[:-1], counters.edges[1:]
    decoding = np.zeros(len(begin))
    for first, last in zip(counters.first, counters.last, strict=True):
        decoding += np.clip(np.minimum(last, end) - np.maximum(first, begin), 0, None)
    firsts = np.histogram(counters.first[np.isfinite(counters.first)], counters.edges)[0]
    decoded = np.clip(counters.written - firsts, 0, None)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(decoding > 0, decoded / decoding * (end - begin), np.nan)


def written_by(counters: Counters) -> NDArray[Any]:
    """Tokens that each finished request wrote: the steps between its first and its last token, and one.

    Good to about 3 in 1,000: within an interval steps are taken as evenly spaced.
    """
    import numpy as np

    count = np.concatenate(([0.0], np.cumsum(np.nan_to_num(steps(counters)))))
    between = np.interp(counters.last, counters.edges, count) - np.interp(counters.first, counters.edges, count)
    return np.maximum(np.round(between + 1), 1).astype(np.int64)  # type: ignore[no-any-return]


@dataclass(frozen=True)
class BusyTime:
    """Stretches of time that were busy throughout, in each of its copies: `done` has their steps, prefill tokens,
    tokens written, context tokens times steps and, of a mixture of experts, shares of experts times steps."""

    done: NDArray[Any]
    seconds: NDArray[Any]


def stretches(
    counters: Counters, *, least_steps: float = LEAST_STEPS, server: InferenceServer | None = None,
    experts: Experts | None = None,
) -> BusyTime:  # fmt: skip
    """Returns successive intervals that were busy throughout, joined until they hold `least_steps` steps.

    `server`: how many copies share the work; intervals in which its cache was nearly full are left out if enough
    others remain, because what is computed again after a preemption is in no counter.
    """
    import numpy as np

    copies = server.copies if server is not None else 1
    count = steps(counters)
    held = (counters.held[:-1] + counters.held[1:]) / 2
    busy = (count > 0) & (counters.held[:-1] > 0) & (counters.held[1:] > 0)
    if server is not None:
        room = FULL * server.blocks * server.block_size * copies
        roomy = busy & (np.maximum(counters.held[:-1], counters.held[1:]) <= room)
        busy = roomy if np.nansum(count[roomy]) >= ENOUGH * least_steps else busy
    columns = [count, counters.prefilled / copies, counters.written / copies, count * held / copies]
    if experts is not None:
        with np.errstate(divide="ignore", invalid="ignore"):
            tokens = (counters.prefilled + counters.written) / count / (1 if _together(server) else copies)
        columns.append(np.nan_to_num(count * experts.share(tokens)))
    work, seconds = np.column_stack(columns)[busy], np.diff(counters.edges)[busy]
    if not len(work):
        return BusyTime(work, seconds)
    stretch = np.floor((np.cumsum(work[:, 0]) - work[:, 0]) / least_steps).astype(int)
    first = np.flatnonzero(np.diff(stretch, prepend=-1))
    return BusyTime(np.add.reduceat(work, first), np.add.reduceat(seconds, first))


def _together(server: InferenceServer | None) -> bool:
    return server is not None and server.together


def fit_step_time(
    *runs: Counters, least_steps: float = LEAST_STEPS, server: InferenceServer | None = None,
    experts: Experts | None = None,
) -> tuple[StepTime, float]:  # fmt: skip
    """(step time, relative root mean square of its residuals) that explains the runs best, no coefficient negative.

    Least squares on the mean seconds of a step of each stretch, so that long steps weigh most: queues form there.
    Raises UsageError when the runs hold too few stretches.  SOURCE: Lawson and Hanson (1974), NNLS.
    """
    import numpy as np
    from scipy.optimize import nnls

    parts = [stretches(run, least_steps=least_steps, server=server, experts=experts) for run in runs]
    work, seconds = np.concatenate([part.done for part in parts]), np.concatenate([part.seconds for part in parts])
    if len(work) < work.shape[1]:
        few = f"{len(work)} stretches of {least_steps:g} steps"
        raise UsageError(f"{few} cannot determine {work.shape[1]} coefficients of a step: give a longer run")
    per_step, target = work / work[:, :1], seconds / work[:, 0]
    scale = np.where(per_step.max(axis=0) > 0, per_step.max(axis=0), 1.0)
    coefficients = nnls(per_step / scale, target)[0] / scale
    error = float(np.sqrt(np.mean((per_step @ coefficients / target - 1) ** 2)))
    fixed, prefill, sequence, context = map(float, coefficients[:4])
    return StepTime(fixed, prefill, sequence, context, _timed(experts, coefficients, server)), error


def _timed(experts: Experts | None, coefficients: NDArray[Any], server: InferenceServer | None) -> Experts | None:
    """Returns the experts with the seconds that reading all of them takes one rank of them alone."""
    if experts is None:
        return None
    ranks = server.copies if server is not None and server.together else 1
    return Experts(experts.count, experts.chosen, float(coefficients[4]) * ranks)
