"""Converts the part `inference_server` of a design, and the workloads that call it, into servers ready to run.

A workload brings `prompt` and `answer`, tokens as a number or {mean, cv, max}; lengths are drawn
lognormal, rounded to whole tokens (at least one), one by one from streams of their own.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from coherence.base.errors import InputError, Problem
from coherence.language.design import Component, Design
from coherence.language.schema_kinds import Quantity
from coherence.language.workloads import Spread2, Workload
from coherence.simulate.processes.flow import flow_of
from coherence.simulate.processes.numbers import lower
from coherence.simulate.processes.sources import sources_of
from coherence.simulate.requests.program import Source
from coherence.simulate.serving.server import InferenceServer, StepTime, TokenLoad, load
from coherence.simulate.serving.trace import ArrivalTrace

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

PART = "inference_server"


@dataclass(frozen=True)
class Engine:
    """A server, the time of its steps, and the workloads that call it with the lengths that they bring."""

    name: str
    server: InferenceServer
    step: StepTime
    sources: tuple[tuple[Source, Workload], ...]
    notes: tuple[str, ...] = ()


def is_engine(component: Component) -> bool:
    """Does it use the part `inference_server`?"""
    return component.part is not None and component.part.text == PART


def engines_of(design: Design, *, first_burst: float) -> tuple[Engine, ...]:
    """Returns every inference server that a workload calls.  Raises InputError with everything that is missing."""
    problems: list[Problem] = []
    engines = [_engine(design, c, problems, first_burst) for c in design.components.values() if is_engine(c)]
    if problems:
        raise InputError(problems)
    return tuple(engine for engine in engines if engine.sources)


def _engine(design: Design, component: Component, problems: list[Problem], first_burst: float) -> Engine:
    notes: list[str] = []
    flow, name = flow_of(design), component.name
    routes = [route for route, (_, callee) in flow.ends.items() if callee == name]
    callers = [design.workload[flow.ends[route][0]] for route in routes if flow.ends[route][0] in design.workload]
    problems += _copies(component)
    problems += [problem for workload in callers for problem in _lengths_missing(name, workload)]
    if any(call.per_try or call.deadline for call in (flow.calls[route] for route in routes) if call is not None):
        notes.append(f"limits of calls to {name} are not run: every request waits for its answer")
    sources = {s.name: s for s in sources_of(design, flow, notes, problems, first_burst=first_burst)}
    pairs = tuple((sources[w.name], w) for w in callers)
    return Engine(name, *_machine(component, notes), pairs, tuple(notes))


def _copies(component: Component) -> Iterator[Problem]:
    if isinstance(component.copies, Quantity) and component.copies.low != 1:
        message = f"{component.copies.text} copies of {component.name} are not run: simulate runs one inference server"
        remedy = "leave `copies` out, and state the rate that comes to one copy"
        yield Problem(component.copies.place, message, remedy)


def _machine(component: Component, notes: list[str]) -> tuple[InferenceServer, StepTime]:
    stated = {key: constant for key, constant in component.constants.items() if isinstance(constant, Quantity)}
    number = {key: lower(found, f"{key} of {component.name}", notes) for key, found in stated.items()}
    seqs, tokens, blocks, size = (
        int(number[key]) for key in ("max_num_seqs", "max_num_batched_tokens", "blocks", "block_size")
    )
    times = [number[key] for key in ("step_time", "per_prompt_token", "per_request", "per_cached_token")]
    return InferenceServer(seqs, tokens, blocks, size), StepTime(*times)


def _lengths_missing(name: str, workload: Workload) -> Iterator[Problem]:
    for key in ("prompt", "answer"):
        if getattr(workload, key) is None:
            remedy = f"write `{key}: {{mean: 500 token, cv: 1}}`"
            yield Problem(workload.place, f"{name} needs the {key} of {workload.name}, in tokens", remedy)


def load_of(engine: Engine, *, seed: int, until: float, traces: Mapping[str, ArrivalTrace] | None = None) -> TokenLoad:
    """Returns the requests of all its workloads that come before `until` seconds, in order.

    traces: workload -> its arrivals and, if it has them, its tokens, instead of chance.
    """
    import numpy as np

    parts = []
    for source, workload in engine.sources:
        trace = (traces or {}).get(workload.name)
        times = _arrivals(source if trace is None else replace(source, arrivals=trace.arrivals), seed, until)
        prompt, answer = (
            _tokens(getattr(workload, key), len(times), seed, f"{workload.name}.{key}")
            if trace is None or not recorded
            else np.array(recorded[: len(times)], np.float64)
            for key, recorded in (("prompt", trace.prompt if trace else ()), ("answer", trace.output if trace else ()))
        )
        parts.append(np.column_stack([times, prompt, answer]))
    rows = np.concatenate([np.zeros((0, 3)), *parts])
    rows = rows[np.argsort(rows[:, 0], kind="stable")]
    return load(rows[:, 0], rows[:, 1], rows[:, 2])


def _arrivals(source: Source, seed: int, until: float) -> NDArray[np.float64]:
    import numpy as np

    from coherence.simulate.requests.arrivals import blocks

    times = [np.zeros(0)]
    for block in blocks(source.arrivals, seed, source.name):
        times.append(block[block < until])
        if len(times[-1]) < len(block):
            break
    return np.concatenate(times)


def _tokens(stated: Spread2 | Quantity, count: int, seed: int, name: str) -> NDArray[np.float64]:
    import numpy as np

    from coherence.simulate.requests.draws import stream, unit

    if isinstance(stated, Quantity):
        return np.full(count, max(1.0, float(stated.low)))
    assert isinstance(stated.mean, Quantity)
    mean, cv = float(stated.mean.low), float(stated.cv.low) if stated.cv is not None else 1.0
    drawn = mean * unit(stream(seed, name), "lognormal", cv)(count) if cv else np.full(count, mean)
    most = float(stated.max.low) if isinstance(stated.max, Quantity) else math.inf
    return np.clip(np.round(drawn), 1, most)
