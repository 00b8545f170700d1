"""Memory-path incoherence: vLLM's scheduler, as `simulate` runs it, with and without room for what answers become.

A step takes 10 ms and computes 48 sequences; prompts have 100 tokens, answers 100 on average.  Where memory binds it
holds 18 of the mean requests.  Load .6 of a request a step asks for 60 tokens a step.
"""

from __future__ import annotations

from functools import partial
from itertools import pairwise

import numpy as np

from coherence.causal.signatures.memory_path import EngineBatches, memory_path
from coherence.causal.signatures.signature import Signature
from coherence.exploring.experiments.experiment import Chance, Experiment, PowerCurve
from coherence.simulate.serving.engine import Served, serve
from coherence.simulate.serving.server import InferenceServer, StepTime, load

SEQUENCES, STEP, BLOCK = 48, 0.01, 16
TIGHT, AMPLE = 180, 48 * 40  # blocks: 18 mean requests of 150 tokens; every sequence of the longest
LONGEST, BATCHES, UNTIL = 400, 20, 20.0
ROOM = (180, 240, 300, 400, 500)  # blocks of the curves
STEPS = StepTime(STEP, 0.0, 0.0, 0.0)


def run(chance: Chance, *, blocks: int, sequences: int, rate: float = 0.6) -> Served:
    """Returns a run of a server; `rate`: requests that come in a step."""
    count = int(2 * rate * UNTIL / STEP)
    arrival = np.cumsum(chance.exponential(STEP / rate, count))
    arrival = arrival[arrival < UNTIL]
    answers = np.clip(np.round(chance.lognormal(np.log(100) - 0.125 / 2, 0.125**0.5, len(arrival))), 1, 300)
    server = InferenceServer(sequences, 2048, blocks, BLOCK, admits_whole=True)
    return serve(server, STEPS, load(arrival, np.full(len(arrival), 100), answers), until=UNTIL, sample_every=STEP)


def observed(served: Served) -> EngineBatches:
    """Returns what a server's counters say, batch by batch."""
    series, edges = served.series, np.linspace(UNTIL / 10, UNTIL, BATCHES + 1)
    queueing = series["waiting"] > 0
    free = 1 - series["running"] / SEQUENCES
    parts = [(series["time"] >= low) & (series["time"] < high) for low, high in pairwise(edges)]
    done = series["prefilled"] + series["written"]
    computed = np.array([np.ptp(done[part]) if part.any() else 0.0 for part in parts])
    twice = served.recomputed > 0
    again = np.histogram(served.scheduled[twice], edges, weights=served.recomputed[twice])[0]
    while_queueing = [free[part & queueing] for part in parts]
    return EngineBatches(
        np.array([own.mean() if len(own) else np.nan for own in while_queueing]), again.astype(float), computed
    )


def answered(chance: Chance, *, blocks: int, sequences: int) -> Signature:
    """Returns what the test answers on one run."""
    return memory_path(observed(run(chance, blocks=blocks, sequences=sequences)))


EXPERIMENT = Experiment(
    "2 memory-path incoherence",
    "Reported compute is free where requests are not served. It is so under a bottleneck of memory that admission "
    "knows, too: only work that is computed again tells.",
    __doc__ or "",
    {
        "bound by compute": lambda chance: answered(chance, blocks=AMPLE, sequences=SEQUENCES),
        "bound by memory, which admission knows": lambda chance: answered(
            chance, blocks=TIGHT, sequences=TIGHT // (LONGEST // BLOCK)
        ),
    },
    {"unaware admission, .6 a step": lambda chance: answered(chance, blocks=TIGHT, sequences=SEQUENCES)},
    (
        PowerCurve("48 sequences", "blocks", ROOM, lambda b: partial(answered, blocks=b, sequences=SEQUENCES)),
        PowerCurve(
            "as memory holds", "blocks", ROOM, lambda b: partial(answered, blocks=b, sequences=b // (LONGEST // BLOCK))
        ),
    ),
)
