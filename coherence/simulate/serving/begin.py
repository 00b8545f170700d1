"""Builds what a run begins with: a server, its step time and its load as arrays for the compiled functions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from coherence.simulate.serving.server import CHUNKED, InferenceServer, StepTime, TokenLoad

if TYPE_CHECKING:
    from coherence.simulate.serving.state import BlockNames, Copies, Cost, Rules

Array = Any  # numpy arrays


def rules_of(server: InferenceServer) -> Rules:
    """Returns the limits of a server as numbers."""
    from coherence.simulate.serving.state import Rules

    mixed, limits = server.prefill == CHUNKED, (server.max_num_seqs, server.max_num_batched_tokens)
    return Rules(
        *limits, server.block_size, server.blocks, mixed, server.admits_whole, server.prefix_cache, server.together
    )


def cost_of(server: InferenceServer, step: StepTime) -> Cost:
    """Returns the step time as numbers; copies that step together share their experts, and bring all their tokens."""
    import numpy as np

    from coherence.simulate.serving.state import Cost

    seconds = np.zeros(server.max_num_batched_tokens + 1)
    if step.experts is not None:
        ranks = server.copies if server.together else 1
        tokens = np.arange(len(seconds)) * ranks
        seconds += step.experts.seconds / ranks * step.experts.share(tokens)
    fixed, prefill, sequence = float(step.fixed), float(step.per_prefill_token), float(step.per_sequence)
    return Cost(fixed, prefill, sequence, float(step.per_context_token), seconds)


def fleet_of(
    server: InferenceServer, load: TokenLoad, sample_every: float, pauses: Sequence[tuple[float, float]]
) -> Copies:
    """Returns a server that has done nothing yet."""
    import numpy as np

    from coherence.simulate.serving import state

    copies, batch, blocks = server.copies, server.max_num_seqs, server.blocks if server.prefix_cache else 0
    names, requests, known = _names(server, load)
    count = np.zeros((copies, state.COUNTS), np.int64)
    count[:, state.FREE] = server.blocks
    begin = float(load.arrival[0]) if len(load) else 0.0
    ring = np.arange(blocks + 1)
    return state.Copies(
        of=requests,
        names=names,
        **{name: np.zeros((copies, batch), np.int64) for name in ("running", "planned")},
        count=count,
        clock=np.full((copies, 1), begin),
        content=np.full((copies, blocks), state.NONE),
        users=np.zeros((copies, blocks), np.int64),
        before=np.tile(np.roll(ring, 1), (copies, 1)),
        after=np.tile(np.roll(ring, -1), (copies, 1)),
        where=np.full((copies, known), state.NONE),
        turn=np.array([0, 0, copies - 1]),
        sampling=np.array([begin, sample_every]),
        pauses=np.array(pauses, float).reshape(-1, 2),
    )


def _names(server: InferenceServer, load: TokenLoad) -> tuple[BlockNames, Array, int]:
    """Returns what blocks are called, the requests, and how many names there are."""
    import numpy as np

    from coherence.simulate.serving.state import NONE, BlockNames

    places = -(-(load.prompt + load.output) // server.block_size) if server.prefix_cache else np.zeros(len(load), int)
    heads = load.prefixes if server.prefix_cache and load.prefixes else ((),) * len(load)
    shared = np.array([len(head) for head in heads], np.int64)
    _, names = np.unique(np.array([name for head in heads for name in head], np.int64), return_inverse=True)
    table = np.full(int(places.sum()), NONE, np.int32)
    known = int(names.max(initial=NONE)) + 1
    requests = _requests(load, _starts(places), np.minimum(shared, load.prompt // server.block_size), _starts(shared))
    return BlockNames(names.astype(np.int64), table), requests, known


def _starts(lengths: Array) -> Array:
    """Returns where each piece begins when pieces of these lengths lie one behind the other."""
    import numpy as np

    return (np.cumsum(lengths) - lengths).astype(np.int64)


def _requests(load: TokenLoad, offset: Array, shared: Array, named: Array) -> Array:
    import numpy as np

    from coherence.simulate.serving.state import REQUEST

    requests = np.zeros(len(load), REQUEST).view(np.recarray)
    requests.arrival, requests.prompt, requests.output = load.arrival, load.prompt, load.output
    requests.given = 0 if load.given is None else load.given
    requests.offset, requests.shared, requests.named = offset, shared, named
    requests.scheduled = requests.first = requests.last = np.nan
    return requests
