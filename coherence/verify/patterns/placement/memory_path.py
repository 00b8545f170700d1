"""memory-path incoherence: an engine admits by what requests are, and memory runs out of what they become.

## What
For each `inference_server` that workloads call: the sequences that it runs at once (`max_num_seqs`) times the blocks
that the longest request holds at its end, against `blocks`.  Where they fit nothing is ever put back: proved.  Where
already the mean request at its end does not fit so often, memory is what binds, and no number of admission knows it:
the load is run, and requests that are put back while compute is free (sequences that nobody uses while others wait)
are the conflict, with the share of computed tokens that were computed before.

A server that is full (all sequences run while others wait) is bound by compute, and one that admits no more than memory
holds is bound by memory and knows it: neither is incoherent, though both make requests wait.

## Why it hurts
Compute looks free and the queue is long, so that more requests are let in.  Each of them takes the memory of one that
was nearly done, whose prompt and answer are computed again.

## Example
```yaml
coherence: 1
workload:
  chat:
    rate: 60 req/s
    prompt: {mean: 100 token, cv: 0, max: 100 token}
    answer: {mean: 100 token, cv: 0.35, max: 300 token}
components:
  engine: {uses: inference_server, blocks: 180 block, max_num_seqs: 48, step_time: 10 ms, per_prompt_token: 0 s/token}
calls: [{from: chat, to: engine}]
```

## Instead
`max_num_seqs: 7`: seven of the longest requests hold 175 blocks.

## Source
P. J. Denning, Thrashing: its causes and prevention (1968): work is lost where admitted working sets exceed memory.
Kwon et al., Efficient Memory Management for LLM Serving with PagedAttention, SOSP 2023.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING

from coherence.base.number_text import render_decimal
from coherence.base.places import Place
from coherence.findings import repairs
from coherence.findings.finding import Evidence, Finding, Grade, Repair, Step
from coherence.findings.question_input import Certificate, Question, Subject, arithmetic, rational
from coherence.language.schema_kinds import Quantity
from coherence.language.workloads import Spread2, Workload

if TYPE_CHECKING:
    from coherence.simulate.serving.of_design import Engine

QUESTION = Question("COH502", "memory-path-incoherence", "ai.07 accelerator runtime control", slow=True)
QUESTIONS = (QUESTION,)
PART = "inference_server"
SECONDS, SEED = 60.0, 1  # of the run
FREE = 0.05  # of compute: less is a full machine
ENOUGH = 0.98  # of what is delivered today: less is given up


@dataclass(frozen=True)
class ServedLoad:
    """What a run says: shares of tokens computed again, of compute free while requests wait; tokens delivered a
    second."""

    again: float
    free: float
    delivered: float


def ask(subject: Subject) -> Iterator[Finding]:
    """Yields one answer for each inference server that workloads call."""
    parts = {name: component.part for name, component in subject.design.components.items()}
    servers = [name for name, part in parts.items() if part is not None and part.text == PART]
    if not servers:
        return
    from coherence.base.errors import InputError
    from coherence.simulate.serving.of_design import engines_of

    try:
        engines = engines_of(subject.design, first_burst=0.0)
    except InputError as error:
        problem = error.problems[0]
        needs = f"needs what a run needs: {problem.message}"
        called = ((name, tuple(_calls(subject, name, subject.design.workload))) for name in servers)
        yield from (QUESTION.undecided(needs, (problem.place,), (name, *calls)) for name, calls in called if calls)
        return
    for engine in engines:
        if engine.sources and not engine.upstream:
            yield from _answer(subject, engine)


def _answer(subject: Subject, engine: Engine) -> Iterator[Finding]:
    server, workloads = engine.server, [workload for _, workload in engine.sources]
    longest = [_held(workload, "max", server.block_size) for workload in workloads]
    means = [_held(workload, "mean", server.block_size) for workload in workloads]
    callers = [workload.name for workload in workloads]
    places, of = tuple(_places(subject, engine)), (engine.name, *_calls(subject, engine.name, callers))
    most = None if None in longest else max(held for held in longest if held is not None)
    least = None if None in means else min(held for held in means if held is not None)
    if most is not None and _sequences(subject, engine) * most <= server.blocks:
        yield _fits(engine, _sequences(subject, engine), most, places, of)
    elif least is not None and least > server.blocks:
        yield QUESTION.undecided(_alone(engine, least), places, of)
    elif least is not None and server.max_num_seqs * least > server.blocks:
        yield from _run(subject, engine, most, places, of)
    else:
        yield QUESTION.undecided(_needs(engine, _sequences(subject, engine), most), places, of)


def _alone(engine: Engine, least: int) -> str:
    blocks = engine.server.blocks
    return f"needs memory for one mean request of {engine.name}: it holds {least} blocks at its end, of {blocks}"


def _sequences(subject: Subject, engine: Engine) -> Fraction:
    """Returns the most sequences that may run at once; a server is built with the least of a range."""
    stated = subject.design.components[engine.name].constants.get("max_num_seqs")
    return stated.high if isinstance(stated, Quantity) else Fraction(engine.server.max_num_seqs)


def _needs(engine: Engine, sequences: Fraction, most: int | None) -> str:
    if most is None:
        return f"needs the longest prompt and answer (`max`) of what {engine.name} serves"
    bound = f"{sequences} of the longest requests hold more than {engine.server.blocks} blocks"
    return f"how often requests of {engine.name} are long at once is open: {bound}, and as many of the mean ones do not"


def _held(workload: Workload, which: str, block: int) -> int | None:
    """Returns the blocks that a request holds at its end, of mean or of largest lengths; None where one is open."""
    lengths = [_length(getattr(workload, key), which) for key in ("prompt", "answer")]
    if None in lengths:
        return None
    return math.ceil((sum((own for own in lengths if own is not None), Fraction(0)) - 1) / block)


def _length(stated: Spread2 | Quantity | None, which: str) -> Fraction | None:
    if isinstance(stated, Quantity):
        return stated.high
    value = getattr(stated, which, None) if stated is not None else None
    return value.high if isinstance(value, Quantity) else None


def _fits(
    engine: Engine, sequences: Fraction, most: int, places: tuple[Place, ...], of: tuple[str, ...]
) -> Finding:  # fmt: skip
    blocks = Fraction(engine.server.blocks)
    facts = (f"(<= 0.0 n {rational(sequences)})",)
    script = Certificate({"n": "Real"}, facts, f"(<= (* {rational(Fraction(most))} n) {rational(blocks)})").script()
    message = f"{sequences} of the longest requests fit into the memory of {engine.name}: nothing is put back"
    numbers: dict[str, tuple[Fraction | float | int, str]] = {
        "sequences": (sequences, ""), "each at most": (most, "blocks"), "there are": (blocks, "blocks"),
    }  # fmt: skip
    return QUESTION.proved(message, places, of, arithmetic(numbers, certificate=script))


def _run(
    subject: Subject, engine: Engine, most: int | None, places: tuple[Place, ...], of: tuple[str, ...]
) -> Iterator[Finding]:
    """Yields the conflict where a run puts requests back under free compute; nothing where compute is full."""
    today = _served(engine, engine.server.max_num_seqs)
    if today.again <= 0 or today.free <= FREE:
        return
    share, free = Fraction(round(1000 * today.again), 1000), Fraction(round(1000 * today.free), 1000)
    message = (
        f"{engine.name} computes {render_decimal(share)} of its tokens again, with {render_decimal(free)} of its "
        "sequences free while requests wait: memory is full, and admission does not read it"
    )
    numbers: dict[str, tuple[Fraction | float | int, str]] = {
        "computed again": (share, "of computed tokens"), "compute free while waiting": (free, "of sequences"),
        "delivered": (round(today.delivered), "token/s"),
    }  # fmt: skip
    proposals: list[Repair] = []
    if most is not None and engine.server.blocks >= most:
        fits = engine.server.blocks // most
        mended = _served(engine, fits)
        numbers[f"delivered with {fits} sequences"] = (round(mended.delivered), "token/s")
        proposals = list(_fewer(subject, engine, fits, mended.delivered / max(today.delivered, 1.0)))
    witness = (
        Step(Fraction(0), f"{engine.server.max_num_seqs} sequences are let in by their prompts"),
        Step(None, "their answers grow, blocks run out, and the last to come is put back to compute all again"),
    )
    evidence = Evidence(Grade.SIMULATED, f"one run of {SECONDS:g} s at the stated load", witness, numbers=numbers)
    yield QUESTION.conflict(
        message, places, of, evidence, certain=False, assumptions=engine.notes, repairs=proposals
    )  # fmt: skip


def _served(engine: Engine, sequences: int) -> ServedLoad:
    """Returns what a run at the stated load says, with so many sequences at once."""
    import numpy as np

    from coherence.simulate.serving.engine import serve
    from coherence.simulate.serving.of_design import load_of

    server = replace(engine.server, max_num_seqs=sequences)
    load = load_of(engine, seed=SEED, until=SECONDS)
    served = serve(server, engine.step, load, until=SECONDS, sample_every=0.1)
    waiting = served.series["waiting"] > 0
    running = served.series["running"][waiting] / (engine.server.max_num_seqs * server.copies)
    done = np.isfinite(served.last_token)
    computed = float(served.series["prefilled"][-1] + served.series["written"][-1]) if len(waiting) else 0.0
    again = float(served.recomputed.sum()) / computed if computed else 0.0
    free = float(1 - running.mean()) if waiting.any() else 0.0
    return ServedLoad(again, free, float(load.output[done].sum()) / SECONDS)


def _fewer(subject: Subject, engine: Engine, fits: int, delivered: float) -> Iterator[Repair]:
    """Yields as many sequences as memory holds of the longest requests, with what it gives up at the stated load."""
    stated = subject.design.components[engine.name].constants.get("max_num_seqs")
    edit = repairs.change(subject, stated, Fraction(fits)) if isinstance(stated, Quantity) else None
    lost = f"{engine.name} delivers {render_decimal(Fraction(round(100 * delivered), 100))} of its tokens at this load"
    if edit is not None:
        yield Repair((edit,), "", concedes=(lost,) if delivered < ENOUGH else ())


def _calls(subject: Subject, server: str, callers: Collection[str]) -> Iterator[str]:
    for call in subject.design.calls:
        if str(call.callee) == server and str(call.caller) in callers:
            yield call.name


def _places(subject: Subject, engine: Engine) -> Iterator[Place]:
    component = subject.design.components[engine.name]
    for key, words in (("blocks", "the memory"), ("max_num_seqs", "so many are let in")):
        stated = component.constants.get(key)
        if isinstance(stated, Quantity):
            yield stated.place.labelled(words)
    for _, workload in engine.sources:
        if workload.answer is not None:
            place = workload.answer.place if isinstance(workload.answer, Quantity) else workload.place
            yield place.labelled("what is admitted becomes longer by this")
