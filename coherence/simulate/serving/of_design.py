"""Converts the part `inference_server` of a design, and the workloads that call it, into servers ready to run.

A workload brings `prompt` and `answer`, tokens as a number or {mean, cv, max}; lengths are drawn
lognormal, rounded to whole tokens (at least one), one by one from streams of their own.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from coherence.base.errors import InputError, Problem
from coherence.language.design import Component, Design
from coherence.language.schema_kinds import Quantity
from coherence.language.workloads import Spread2, Workload
from coherence.simulate.processes.flow import flow_of
from coherence.simulate.processes.sources import sources_of
from coherence.simulate.requests.program import Source
from coherence.simulate.serving.cache_links import CacheLink, cache_links
from coherence.simulate.serving.machine import machine, numbers_of
from coherence.simulate.serving.prefixes import prefixes_of
from coherence.simulate.serving.server import InferenceServer, StepTime, TokenLoad, load
from coherence.simulate.serving.streamed_trace import StreamedTrace
from coherence.simulate.serving.trace import ArrivalTrace

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

PART = "inference_server"
UNREAD = ("deadline", "priority", "cases")  # of workloads


@dataclass(frozen=True)
class Engine:
    """A server, the time of its steps, and the workloads that call it with the lengths that they bring.

    `upstream`: servers that compute prompts for it; `transfer`: seconds, and seconds a token, that the cache of a
    prompt takes from there; `links`: what it passes on the way.
    """

    name: str
    server: InferenceServer
    step: StepTime
    sources: tuple[tuple[Source, Workload], ...]
    notes: tuple[str, ...] = ()
    upstream: tuple[str, ...] = ()
    transfer: tuple[float, float] = (0.0, 0.0)
    links: tuple[CacheLink, ...] = ()


def is_engine(component: Component) -> bool:
    """Does it use the part `inference_server`?"""
    return component.part is not None and component.part.text == PART


def engines_of(design: Design, *, first_burst: float) -> tuple[Engine, ...]:
    """Returns every inference server that requests reach, those that compute prompts for others first.

    Raises InputError with everything that is missing.
    """
    problems: list[Problem] = []
    engines = [_engine(design, c, problems, first_burst) for c in design.components.values() if is_engine(c)]
    if problems:
        raise InputError(problems)
    reached = [engine for engine in engines if engine is not None and (engine.sources or engine.upstream)]
    return tuple(sorted(reached, key=lambda engine: bool(engine.upstream)))


def _engine(design: Design, component: Component, problems: list[Problem], first_burst: float) -> Engine | None:
    notes: list[str] = []
    flow, name = flow_of(design), component.name
    routes = [route for route, (_, callee) in flow.ends.items() if callee == name]
    callers = [design.workload[flow.ends[route][0]] for route in routes if flow.ends[route][0] in design.workload]
    upstream = tuple(flow.ends[route][0] for route in routes if flow.ends[route][0] not in design.workload)
    problems += _not_run(design, component, upstream, callers)
    problems += [problem for workload in callers for problem in _lengths_missing(name, workload)]
    if any(call.per_try or call.deadline for call in (flow.calls[route] for route in routes) if call is not None):
        notes.append(f"limits of calls to {name} are not run: every request waits for its answer")
    notes += [f"{key} of {workload.name} is not run: {name} serves in order, to the end"
              for workload in callers for key in UNREAD if getattr(workload, key)]  # fmt: skip
    sources = {s.name: s for s in sources_of(design, flow, notes, problems, first_burst=first_burst)}
    built = machine(component, fed=bool(upstream), notes=notes, problems=problems)
    if built is None:
        return None
    numbers = numbers_of(component, notes)
    pairs = tuple((sources[w.name], w) for w in callers)
    notes += [f"a prefix of {w.name} is not found again: {name} has no prefix cache"
              for w in callers if w.prefix is not None and not built[0].prefix_cache]  # fmt: skip
    transfer = numbers["transfer_time"], numbers["transfer_per_token"]
    links = cache_links(design, upstream, name, notes) if upstream else ()
    return Engine(name, *built, pairs, tuple(dict.fromkeys(notes)), upstream, transfer, links)


def _not_run(
    design: Design, component: Component, upstream: Sequence[str], callers: Sequence[Workload]
) -> Iterator[Problem]:
    """Yields what stands before a server and is not run: other components, a second chain, a mixture of both."""
    name = component.name
    for caller in upstream:
        if not is_engine(design.components[caller]):
            message = (
                f"{caller} calls {name}: simulate runs requests that workloads send to an inference server directly"
            )
            yield Problem(component.place, message, f"write a call from the workload to {name}")
        elif any(caller == other.callee.text and other.caller.text not in design.workload
                 for other in design.calls if other.callee is not None and other.caller is not None):  # fmt: skip
            message = f"{caller} and {name}: simulate runs one server that computes prompts before one that answers"
            yield Problem(component.place, message, "leave out the one in the middle")
    if upstream and callers:
        message = f"{name} is called by a workload and by {upstream[0]}, which computes prompts for it"
        yield Problem(component.place, message, "let one of the two call it")


def _lengths_missing(name: str, workload: Workload) -> Iterator[Problem]:
    for key in ("prompt", "answer"):
        if getattr(workload, key) is None:
            remedy = f"write `{key}: {{mean: 500 token, cv: 1}}`"
            yield Problem(workload.place, f"{name} needs the {key} of {workload.name}, in tokens", remedy)


def load_of(
    engine: Engine, *, seed: int, until: float, traces: Mapping[str, ArrivalTrace | StreamedTrace] | None = None
) -> TokenLoad:
    """Returns the requests of all its workloads that come before `until` seconds, in order.

    traces: workload -> its arrivals and, if it has them, its tokens, instead of chance.
    """
    import numpy as np

    parts, heads = [], list[tuple[int, ...]]()
    for number, (source, workload) in enumerate(engine.sources):
        trace = (traces or {}).get(workload.name)
        times = _arrivals(source if trace is None else replace(source, arrivals=trace.arrivals), seed, until)
        prompt, answer = (
            _tokens(getattr(workload, key), len(times), seed, f"{workload.name}.{key}")
            if trace is None or not recorded
            else np.array(recorded[: len(times)], np.float64)
            for key, recorded in (("prompt", trace.prompt if trace else ()), ("answer", trace.output if trace else ()))
        )
        parts.append(np.column_stack([times, prompt, answer]))
        heads += prefixes_of(engine.server.block_size, workload, trace, len(times), number)
    rows = np.concatenate([np.zeros((0, 3)), *parts])
    order = np.argsort(rows[:, 0], kind="stable")
    whole = load(*rows[order].T)
    return replace(whole, prefixes=tuple(heads[i] for i in order)) if any(heads) else whole


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
