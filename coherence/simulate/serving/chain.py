"""Serves the inference servers of a design: those that compute prompts first, then those that answer with their caches.

SOURCE: vLLM, docs/features/disagg_prefill.md: the first server is asked for one token, the second for the whole answer;
it takes over the cache of the prompt and computes its last token.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from coherence.simulate.serving.cache_links import CacheLink
from coherence.simulate.serving.engine import Served, serve
from coherence.simulate.serving.of_design import Engine, load_of
from coherence.simulate.serving.server import TokenLoad, chosen
from coherence.simulate.serving.streamed_trace import StreamedTrace
from coherence.simulate.serving.trace import ArrivalTrace

Array = Any  # numpy arrays
Pauses = Sequence[tuple[str, float, float]]


def serve_engines(
    engines: Sequence[Engine],
    *,
    seed: int,
    until: float,
    traces: Mapping[str, ArrivalTrace | StreamedTrace],
    pauses: Pauses = (),
    followed: float = 0.0,
) -> Iterator[tuple[Engine, Served]]:
    """Yields each server with what became of its requests.  `pauses`: (server, start, lasts) in seconds.

    followed: how much longer those are served that came before `until` (s).
    """
    before: dict[str, tuple[TokenLoad, Served]] = {}
    first = {name for engine in engines for name in engine.upstream}
    for engine in engines:
        if engine.upstream:
            load = handed_over([before[name] for name in engine.upstream], engine.transfer, engine.links)
        else:
            load = load_of(engine, seed=seed, until=until, traces=traces)
        begun = replace(load, output=load.output * 0 + 1) if engine.name in first else load
        stopped = [(start, start + lasts) for name, start, lasts in pauses if name == engine.name]
        served = serve(engine.server, engine.step, begun, until=until + followed, pauses=stopped)
        before[engine.name] = load, served
        yield engine, served


def handed_over(
    before: Sequence[tuple[TokenLoad, Served]], transfer: tuple[float, float], links: Sequence[CacheLink] = ()
) -> TokenLoad:
    """Returns the requests whose prompts are computed, when their caches have come; links say how many move at once."""
    import numpy as np

    computed = [(np.flatnonzero(np.isfinite(served.last_token)), load, served) for load, served in before]
    ready = np.concatenate([np.zeros(0), *(served.last_token[which] for which, _, served in computed)])
    parts = [replace(chosen(load, which), origin=load.since[which]) for which, load, _ in computed]
    prompt, output, origin = (
        np.concatenate([getattr(part, name) for part in parts]) for name in ("prompt", "output", "origin")
    )
    order = np.argsort(ready, kind="stable")
    seconds = transfer[0] + transfer[1] * prompt[order]
    prefixes = tuple(head for part in parts for head in part.prefixes or ((),) * len(part))
    moved = in_turn(ready[order], seconds)
    for link in links:
        moved = link.moved(moved)
    return TokenLoad(
        arrival=moved,
        prompt=prompt[order],
        output=output[order],
        prefixes=tuple(prefixes[i] for i in order),
        given=prompt[order] - 1,
        origin=origin[order],
    )


def in_turn(ready: Array, seconds: Array) -> Array:
    """Returns when each of several moves ends that begin in order, each after the one before it."""
    import numpy as np

    done = np.cumsum(seconds)
    begin = np.maximum.accumulate(ready - (done - seconds)) if len(ready) else ready
    return begin + done
