"""Runs a load through a server: times of every request and the state of the server over time."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from coherence.base.errors import UsageError
from coherence.simulate.serving.server import CHUNKED, InferenceServer, StepTime, TokenLoad

if TYPE_CHECKING:
    from coherence.simulate.serving.kernel import KernelState

Array = Any  # numpy arrays
SAMPLES = 4096  # rows of one piece of the series


@dataclass(frozen=True)
class Served:
    """What became of a load.  Arrays by request, in order of arrival; a time that did not come is not a number.

    `rejected`: requests that can never fit (their tokens exceed the cache, or a step where prompts go whole).
    `recomputed`: tokens that were in the cache when the request was preempted, and had to be computed again.
    `series`: "time", "running", "waiting", "blocks" (in use), and since the start "prefilled", "written"
    (tokens), sampled at the end of the first step after each sampling instant and whenever the server idles.
    """

    load: TokenLoad
    scheduled: Array
    first_token: Array
    last_token: Array
    written: Array
    preemptions: Array
    recomputed: Array
    rejected: Array
    series: Mapping[str, Array]
    steps: int
    end: float

    @property
    def wait(self) -> Array:
        """Seconds from arrival to first being scheduled."""
        return self.scheduled - self.load.arrival

    @property
    def ttft(self) -> Array:
        """Time to first token: seconds from arrival."""
        return self.first_token - self.load.arrival

    @property
    def latency(self) -> Array:
        """Seconds from arrival to the last token."""
        return self.last_token - self.load.arrival

    @property
    def tpot(self) -> Array:
        """Time per output token after the first, seconds; not a number for a single token."""
        import numpy as np

        gaps = np.where(self.load.output > 1, self.load.output - 1, np.nan)
        return (self.last_token - self.first_token) / gaps

    def percentiles(self, what: str, ranks: tuple[float, ...] = (50, 90, 99)) -> tuple[float, ...]:
        """Percentiles of `wait`, `ttft`, `tpot` or `latency` over the requests that have one (not a number: none)."""
        import numpy as np

        times = getattr(self, what)
        times = times[np.isfinite(times)]
        return tuple(float(x) for x in np.percentile(times, ranks)) if len(times) else (math.nan,) * len(ranks)


def serve(
    server: InferenceServer, step: StepTime, load: TokenLoad, *, until: float = math.inf, sample_every: float = 1.0
) -> Served:
    """Serve a load first come, first served.  Steps that begin before `until` (seconds) are carried out.

    Raises UsageError for a sampling interval that is not positive.  Deterministic: nothing is drawn.
    """
    import numpy as np

    if not sample_every > 0:
        raise UsageError(f"sample_every(={sample_every!r}) must be > 0 s")
    rejected = oversized(server, load)
    accepted = np.flatnonzero(~rejected)
    state = _state(
        server, TokenLoad(load.arrival[accepted], load.prompt[accepted], load.output[accepted]), sample_every
    )
    samples = _advance(server, step, state, until)
    return _served(load, accepted, rejected, state, samples)


def oversized(server: InferenceServer, load: TokenLoad) -> Array:
    """Which requests can never be served: the last token written needs no place, all others do."""
    tokens = load.prompt + load.output - 1
    limit = server.blocks * server.block_size
    return tokens > (limit if server.prefill == CHUNKED else min(limit, server.max_num_batched_tokens))


def _state(server: InferenceServer, load: TokenLoad, sample_every: float) -> KernelState:
    import numpy as np

    from coherence.simulate.serving import kernel

    n, batch = len(load), server.max_num_seqs
    count = np.zeros(kernel.COUNTS, np.int64)
    count[kernel.FREE] = server.blocks
    begin = float(load.arrival[0]) if n else 0.0
    whole = ("computed", "written", "held", "preempted", "repeated", "put_back")
    return kernel.KernelState(
        arrival=load.arrival,
        prompt=load.prompt,
        output=load.output,
        **{name: np.zeros(n, np.int64) for name in whole},
        **{name: np.full(n, np.nan) for name in ("scheduled", "first", "last")},
        **{name: np.zeros(batch, np.int64) for name in ("running", "planned")},
        count=count,
        clock=np.array([begin, begin, sample_every]),
    )


def _advance(server: InferenceServer, step: StepTime, state: KernelState, until: float) -> Array:
    import numpy as np

    from coherence.simulate.serving import kernel

    mixed = server.prefill == CHUNKED
    rules = kernel.Rules(server.max_num_seqs, server.max_num_batched_tokens, server.block_size, server.blocks, mixed)
    seconds = (step.fixed, step.per_prefill_token, step.per_sequence, step.per_context_token)
    cost = kernel.Cost(*map(float, seconds))
    pieces, done = [], False
    while not done:
        piece = np.zeros((SAMPLES, len(kernel.COLUMNS)))
        state.count[kernel.SAMPLES] = 0
        done = kernel.advance(rules, cost, state, float(until), piece)
        pieces.append(piece[: state.count[kernel.SAMPLES]])
    return np.concatenate(pieces)


def _served(load: TokenLoad, accepted: Array, rejected: Array, state: KernelState, samples: Array) -> Served:
    import numpy as np

    from coherence.simulate.serving import kernel

    def spread(values: Array, empty: float) -> Array:
        whole = np.full(len(load), empty, values.dtype)
        whole[accepted] = values
        return whole

    return Served(
        load=load,
        scheduled=spread(state.scheduled, np.nan),
        first_token=spread(state.first, np.nan),
        last_token=spread(state.last, np.nan),
        written=spread(state.written, 0),
        preemptions=spread(state.preempted, 0),
        recomputed=spread(state.repeated, 0),
        rejected=rejected,
        series={name: samples[:, column] for column, name in enumerate(kernel.COLUMNS)},
        steps=int(state.count[kernel.STEPS]),
        end=float(state.clock[0]),
    )
