"""Names what a design states beside a queue of one workload, of which formulas of queues know nothing.

A formula of a queue is of requests of one workload that wait for members of one thing, each once, until one serves
it.  What else the design says of the two may change the wait or the load, so that the number is that of another queue.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping

from coherence.base.records import Record
from coherence.language.calls import Call
from coherence.language.components import Component
from coherence.language.design import Design
from coherence.language.loops import Loop
from coherence.language.workloads import Spread2, Workload
from coherence.minimums.bounds._retrying import tries_of
from coherence.minimums.facts import ServingStage
from coherence.model.independent_parts import units_of
from coherence.verify.queues.service_means import longest_service_of

Keys = Mapping[type[Record], frozenset[str]]

# fields that the formulas read, or that change nothing for one workload
ONE_QUEUE: Keys = {
    Workload: frozenset(("name", "note", "rate", "arrivals", "service", "priority")),
    Component: frozenset(("name", "note", "copies", "discipline")),
    Call: frozenset(("caller", "callee", "per_try", "deadline", "tries", "on_timeout", "timeout_kind", "stage")),
}
# fields that leave the work of a workload as it is, or make more of it
SAME_LOAD: Keys = {
    Workload: ONE_QUEUE[Workload] | {"burst", "cases", "tokens", "prompt", "answer", "prefix"},
    Component: ONE_QUEUE[Component] | {"needs", "runs_on", "via", "measured_in", "returns", "count", "roles"},
    Call: ONE_QUEUE[Call] | {"pause", "retry_when", "fails", "budget", "hedge_after", "part", "carries"},
}
APART = ("promises", "claims")  # sections that change no run
MORE_WORK = ("components", "calls", "workload")  # sections whose entries leave what others send as it is
OF_THE_LAW = ("constant", "uniform", "lognormal", "hyperexponential")


def beside_one_queue(design: Design, stage: ServingStage) -> Iterator[str]:
    """Yields what the design states beside exponential services of one workload, each begun in turn and once."""
    service = stage.workload.service
    if isinstance(service, Spread2) and str(service.law) in OF_THE_LAW:
        yield f"services are {service.law}"
    component = stage.component
    if component is not None and str(component.discipline or "fifo") != "fifo":
        yield f"the discipline of {component.name} is {component.discipline}"
    tries = tries_of(stage.call) if stage.call is not None else (1, 1)
    if tries is None or tries[1] > 1:
        yield f"tries of {stage.name}"
    yield from _beside(design, stage, ONE_QUEUE, APART)


def beside_its_load(design: Design, stage: ServingStage) -> Iterator[str]:
    """Yields what may make the work that members of a thing have from a workload less than rate times mean service."""
    return _beside(design, stage, SAME_LOAD, (*APART, *MORE_WORK))


def _beside(design: Design, stage: ServingStage, keys: Keys, apart: Collection[str]) -> Iterator[str]:
    """Yields what is stated beside some fields of a stage, and the entries that are not of some sections."""
    cut = longest_service_of(stage.workload)
    if cut is not None:
        yield f"services are cut at {cut.text}"
    for record in (stage.workload, stage.component, stage.call):
        if record is not None:
            yield from (f"{key} of {record.name}" for key in _stated(record) if key not in keys[type(record)])
    yield from _entries(design, stage, apart)


def _stated(record: Record) -> Iterator[str]:
    """Yields the names of a record's fields that stand in the design, and of its constants."""
    for field in record.keys.values():
        given = getattr(record, field.name)
        if given not in (None, (), {}):
            yield from given if field.rest else (field.name,)


def _entries(design: Design, stage: ServingStage, apart: Collection[str]) -> Iterator[str]:
    """Yields the entries that name the workload or the thing and are neither they nor their call."""
    thing = str(stage.call.callee) if stage.call is not None else stage.name
    budget = str(stage.call.budget) if stage.call is not None else ""  # what it limits are no first tries
    for unit in units_of(design):
        if unit.section in apart or unit.mentions.isdisjoint((thing, stage.workload.name)):
            continue
        entry = getattr(design, unit.section)[unit.name]
        if entry in (stage.workload, stage.component, stage.call) or unit.name == budget:
            continue
        if isinstance(entry, Loop) and not _acts_on(entry, (thing, stage.workload.name)):
            continue
        yield f"{unit.section} {unit.name}" if isinstance(unit.name, str) else f"calls {entry.name}"


def _acts_on(loop: Loop, things: tuple[str, ...]) -> bool:
    return not loop.written or loop.written.partition(".")[0] in things
