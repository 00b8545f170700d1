"""Runs a load through a server: times of every request and the state of the server over time."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from coherence.base.errors import UsageError
from coherence.simulate.serving.begin import cost_of, fleet_of, rules_of
from coherence.simulate.serving.server import CHUNKED, InferenceServer, StepTime, TokenLoad, chosen

if TYPE_CHECKING:
    from coherence.simulate.serving.state import Copies

Array = Any  # numpy arrays
ROWS = 4096  # rows of one piece of the series


@dataclass(frozen=True)
class Served:
    """What became of a load.  Arrays by request, in order of arrival; a time that did not come is not a number.

    `rejected`: requests that can never fit (their tokens exceed the cache, or a step where prompts go whole).
    `recomputed`: tokens that were in the cache when the request was preempted, and had to be computed again.
    `cached`: prompt tokens that were in the cache when the request was first scheduled.
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
    cached: Array
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
        """Time to first token: seconds since the user asked."""
        return self.first_token - self.load.since

    @property
    def latency(self) -> Array:
        """Seconds from when the user asked to the last token."""
        return self.last_token - self.load.since

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
    server: InferenceServer,
    step: StepTime,
    load: TokenLoad,
    *,
    until: float = math.inf,
    sample_every: float = 1.0,
    pauses: Sequence[tuple[float, float]] = (),
) -> Served:
    """Serves a load first come, first served.  Steps that begin before `until` (seconds) are carried out.

    `pauses`: (begin, end) of times in which no step begins.
    Raises UsageError for a sampling interval that is not positive.  Deterministic: nothing is drawn.
    """
    import numpy as np

    if not sample_every > 0:
        raise UsageError(f"sample_every(={sample_every!r}) must be > 0 s")
    rejected = oversized(server, load)
    accepted = np.flatnonzero(~rejected)
    fleet = fleet_of(server, chosen(load, accepted), sample_every, sorted(pauses))
    samples = _advance(server, step, fleet, until)
    return _served(load, accepted, rejected, fleet, samples)


def oversized(server: InferenceServer, load: TokenLoad) -> Array:
    """Which requests can never be served: the last token written needs no place, all others do."""
    tokens = load.prompt + load.output - 1
    limit = server.blocks * server.block_size
    return tokens > (limit if server.prefill == CHUNKED else min(limit, server.max_num_batched_tokens))


def _advance(server: InferenceServer, step: StepTime, fleet: Copies, until: float) -> Array:
    import numpy as np

    from coherence.simulate.serving import fleet as kernel
    from coherence.simulate.serving.state import COLUMNS, SAMPLES

    rules, cost = rules_of(server), cost_of(server, step)
    pieces, done = [], False
    while not done:
        piece = np.zeros((ROWS, len(COLUMNS)))
        fleet.turn[SAMPLES] = 0
        done = kernel.advance(rules, cost, fleet, float(until), piece)
        pieces.append(piece[: fleet.turn[SAMPLES]])
    return np.concatenate(pieces)


def _served(load: TokenLoad, accepted: Array, rejected: Array, fleet: Copies, samples: Array) -> Served:
    import numpy as np

    from coherence.simulate.serving.state import COLUMNS, STEPS

    def spread(values: Array, empty: float) -> Array:
        whole = np.full(len(load), empty, values.dtype)
        whole[accepted] = values
        return whole

    requests = fleet.of
    return Served(
        load=load,
        scheduled=spread(requests.scheduled, np.nan),
        first_token=spread(requests.first, np.nan),
        last_token=spread(requests.last, np.nan),
        written=spread(requests.written, 0),
        preemptions=spread(requests.preempted, 0),
        recomputed=spread(requests.repeated, 0),
        cached=spread(requests.cached, 0),
        rejected=rejected,
        series={name: samples[:, column] for column, name in enumerate(COLUMNS)},
        steps=int(fleet.count[:, STEPS].sum()),
        end=float(fleet.clock.max()),
    )
