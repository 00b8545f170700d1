"""Lists what the policies of a design promise without a word, and how far the answers of a run keep it.

Nobody writes that an autoscaler is to reach its target.  Such a promise is asked by a question of its own; where a
number is missing it is open, and counted by kind instead of named one by one.  What a finding says of a promise that
somebody wrote is about that one.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from coherence.findings.finding import Finding, OpenPromises, Verdict
from coherence.language.design import Design, Loop, Timer
from coherence.language.expressions import names as used
from coherence.language.schema_kinds import Quantity
from coherence.language.sentences import Event
from coherence.model.laws import law_of

Wanted = Callable[[str], bool]  # whether findings with a code are asked for


@dataclass(frozen=True)
class PromiseKind:
    """One sort of default promise: what it says in a word and a sentence, and the questions that it is asked by.

    `needs`: the number that mostly is not stated where it is open, in words.  `silence_counts`: silence of its
    questions says that this number is missing, too.
    """

    name: str
    sentence: str
    codes: tuple[str, ...]
    needs: str
    silence_counts: bool = False


TARGET = PromiseKind(
    "target",
    "a loop with a setpoint comes to rest, and not short of it",
    ("COH301", "COH308"),
    "a load",
    silence_counts=True,
)
WRITERS = PromiseKind("writers", "two writers do not undo each other", ("COH205", "COH230", "COH232"), "a number")
START = PromiseKind("start", "a probe ends nothing that still starts", ("COH206",), "the time of a start")
ORDER = PromiseKind("order", "liveness is slower than readiness", ("COH208",), "one event that both see")
DRAIN = PromiseKind("drain", "a budget lets a drain go on", ("COH209",), "a number of members")
ANSWER = PromiseKind(
    "answer",
    "the answer of a call can still be used",
    ("COH201",),
    "the time of an answer (`takes: {answer: ..}` of what is called)",
    silence_counts=True,
)
WORK = PromiseKind(
    "work",
    "a timer waits until the work that it is about has ended",
    ("COH207", "COH246"),
    "the time of work",
)
UPDATE = PromiseKind("update", "a roll-out can go on", ("COH212",), "room for a copy")
REST = PromiseKind("rest", "what is left when some are taken out carries the load", ("COH240",), "a load")
LOAD = PromiseKind(
    "load",
    "a thing serves what is asked of it",
    ("COH245",),
    "how many requests a member works on at once (`limits: {n: {counts: X.ongoing, at_most: k, per: replica}}`)",
)
OF_FINDINGS = (WORK, UPDATE, REST, LOAD)  # listed where a question answers about them
KINDS = (TARGET, WRITERS, START, ORDER, DRAIN, ANSWER, *OF_FINDINGS)
STATES = {Verdict.CONFLICT: "broken", Verdict.UNDECIDED: "open", Verdict.PROVED: "kept", Verdict.VACUOUS: "vacuous"}


@dataclass(frozen=True)
class DefaultPromise:
    """What some policies promise by being there."""

    kind: PromiseKind
    of: tuple[str, ...]

    def state(self, findings: Iterable[Finding]) -> str:
        """Returns broken, open, vacuous or kept, the worst that a finding says of it; `not asked` where none does."""
        own = {f.verdict for f in findings if f.code in self.kind.codes and set(self.of) <= set(f.of)}
        return next((word for verdict, word in STATES.items() if verdict in own), "not asked")

    def needs(self, state: str) -> str:
        """Returns the number that mostly is missing in this state, in words; empty where it is decided."""
        missing = state == "open" or (state == "not asked" and self.kind.silence_counts)
        return self.kind.needs if missing else ""

    def to_dict(self, state: str) -> dict[str, object]:
        """Returns the promise and its state for machines."""
        kind, needs = self.kind, self.needs(state)
        return {
            "kind": kind.name, "of": list(self.of), "state": state, "needs": needs, "promise": kind.sentence,
            "codes": list(kind.codes),
        }  # fmt: skip


def default_promises(design: Design, findings: Iterable[Finding]) -> tuple[DefaultPromise, ...]:
    """Returns what the policies of a design promise, and what findings about other such promises are about."""
    promises = dict.fromkeys(_of_policies(design))
    known = _by_name(promises)
    for finding in findings:
        kind = kind_of(finding, design)
        if kind is not None and (kind in OF_FINDINGS or (finding.lacks_number and not _about(finding, known))):
            promises[DefaultPromise(kind, finding.of)] = None
    return tuple(promises)


def _by_name(promises: Iterable[DefaultPromise]) -> Mapping[str, Sequence[DefaultPromise]]:
    """Returns the promises by the first policy that they are about."""
    known: dict[str, list[DefaultPromise]] = {}
    for promise in promises:
        known.setdefault(promise.of[0], []).append(promise)
    return known


def _about(finding: Finding, known: Mapping[str, Sequence[DefaultPromise]]) -> list[DefaultPromise]:
    """Returns the promises that a finding says something of."""
    near = (promise for name in finding.of for promise in known.get(name, ()))
    return [p for p in near if finding.code in p.kind.codes and set(p.of) <= set(finding.of)]


def kind_of(finding: Finding, design: Design) -> PromiseKind | None:
    """Returns the kind of default promise that a finding is about; None where somebody wrote what it is about."""
    kind = next((kind for kind in KINDS if finding.code in kind.codes and finding.verdict in STATES), None)
    return None if any(name in design.promises for name in finding.of) else kind


@dataclass(frozen=True)
class Promised:
    """What a report says of the default promises of a design: the findings, and how many are open of each kind."""

    findings: tuple[Finding, ...]
    open: tuple[OpenPromises, ...]


def counted(design: Design, findings: Sequence[Finding], wanted: Wanted, without: Collection[str] = ()) -> Promised:
    """Returns the findings but those of kinds that are switched off, and those that lack a number: they are counted."""
    promises = default_promises(design, findings)
    off = _by_name(promise for promise in promises if promise.kind.name in without)
    on = [f for f in findings if kind_of(f, design) is None or not _about(f, off)]
    known = _by_name(promise for promise in promises if promise.kind.name not in without)
    open_ = {promise for f in on if _is_counted(f, design) for promise in _about(f, known)}
    answered = {(f.code, name) for f in findings if f.verdict in STATES for name in f.of}
    unanswered = (p for p in promises if p.kind.name not in without and _is_silent(p, answered, wanted))
    silent = {p for p in unanswered if p.kind is not TARGET or not _reads_numbers(design, design.loops[p.of[0]])}
    counts = Counter(promise.kind for promise in open_ | silent)
    return Promised(
        tuple(f for f in on if not _is_counted(f, design)),
        tuple(OpenPromises(kind.name, kind.needs, counts[kind]) for kind in KINDS if counts[kind]),
    )


def _is_counted(finding: Finding, design: Design) -> bool:
    """Decides whether a finding is that a default promise lacks a number."""
    return finding.lacks_number and kind_of(finding, design) is not None


def _is_silent(promise: DefaultPromise, answered: Collection[tuple[str, str]], wanted: Wanted) -> bool:
    """Decides whether all questions of a promise were asked, and their silence says that a number is missing."""
    kind, name = promise.kind, promise.of[0]
    return kind.silence_counts and all(wanted(code) and (code, name) not in answered for code in kind.codes)


def _reads_numbers(design: Design, loop: Loop) -> bool:
    """Decides whether all that a loop reads are numbers that the design states, and that no loop writes."""
    target = loop.target.signal if loop.target is not None else None
    read = used(target.tree) if target is not None else ()
    writes = {each.written for each in design.loops.values()}
    return bool(read) and all(path not in writes and _is_number(design, path) for path in read)


def _is_number(design: Design, path: str) -> bool:
    thing, _, key = path.partition(".")
    component, workload = design.components.get(thing), design.workload.get(thing)
    stated = component.constants.get(key) if component is not None else None
    if workload is not None:
        stated = workload.rate if key == "rate" else workload.constants.get(key)
    return isinstance(stated, Quantity) and stated.exact


def _of_policies(design: Design) -> Iterator[DefaultPromise]:
    """Yields what each loop, pair of writers, probe, pair of probes, budget and call promises."""
    loops = design.loops.values()
    for loop in loops:
        if law_of(loop) == "proportional" and loop.target is not None and loop.target.setpoint is not None:
            yield DefaultPromise(TARGET, (loop.name,))
    for names in _writers(loops):
        yield from (DefaultPromise(WRITERS, pair) for pair in itertools.combinations(names, 2))
    yield from _of_timers(design.timers.values()) if design.timers else ()
    for limit in design.limits.values():
        if limit.part is not None and limit.part.text == "pod_disruption_budget":
            yield DefaultPromise(DRAIN, (limit.name,))
    for call in design.calls:
        if isinstance(call.deadline, Quantity) or isinstance(call.per_try, Quantity):
            yield DefaultPromise(ANSWER, (call.name,))


def _writers(loops: Iterable[Loop]) -> Iterable[list[str]]:
    """Returns the names of the loops that write one signal, for each signal."""
    writers: dict[str, list[str]] = {}
    for loop in loops:
        if loop.actuation is not None and loop.actuation.signal is not None:
            writers.setdefault(loop.actuation.signal.text, []).append(loop.name)
    return writers.values()


def _of_timers(timers: Iterable[Timer]) -> Iterator[DefaultPromise]:
    """Yields what each probe and pair of probes promises."""
    from coherence.verify.patterns.timers.start_budget import is_probe
    from coherence.verify.timers.firing import action_of

    probes = [timer for timer in timers if is_probe(timer)]
    actions = {probe.name: action_of(probe) for probe in probes}
    for probe in probes:
        if actions[probe.name] == "ends" and probe.start is not None and probe.start.kind == "starts":
            yield DefaultPromise(START, (probe.name,))
    order = {probe.name: number for number, probe in enumerate(probes)}
    started: dict[Event | None, list[str]] = {}
    for probe in probes:
        started.setdefault(probe.start, []).append(probe.name)
    pairs = (pair for alike in started.values() for pair in itertools.combinations(alike, 2))
    both = (pair for pair in pairs if {actions[name] for name in pair} == {"ends", "takes off the list"})
    for pair in sorted(both, key=lambda pair: [order[name] for name in pair]):
        yield DefaultPromise(ORDER, pair)


def render_counts(states: Iterable[tuple[PromiseKind, str]]) -> Iterator[str]:
    """Yields one line for each kind: how many of its promises are in each state."""
    counted = Counter(states)
    for kind in dict.fromkeys(kind for kind, _ in counted):
        listed = ", ".join(f"{number} {state}" for state, number in sorted(_states_of(counted, kind).items()))
        yield f"{kind.name}: {listed} ({kind.sentence}; {', '.join(kind.codes)})"


def render_open(promised: Iterable[tuple[DefaultPromise, str]]) -> Iterator[str]:
    """Yields one line for each promise that is broken, or that a number would decide."""
    for promise, state in promised:
        needs = promise.needs(state)
        if needs or state == "broken":
            yield f"{promise.kind.name} of {', '.join(promise.of)}: {state}{f', needs {needs}' * bool(needs)}"


def _states_of(counted: Counter[tuple[PromiseKind, str]], kind: PromiseKind) -> dict[str, int]:
    return {state: number for (own, state), number in counted.items() if own == kind}


__all__ = [
    "KINDS",
    "DefaultPromise",
    "PromiseKind",
    "counted",
    "default_promises",
    "kind_of",
    "render_counts",
    "render_open",
]
