"""Lists what the policies of a design promise without a word, and how far the answers of a run keep it.

Nobody writes that an autoscaler is to reach its target.  Such a promise is asked by a question of its own; where a
number is missing it is open, and counted by kind instead of named one by one.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from coherence.findings.finding import Finding, Verdict
from coherence.language.design import Design, Loop, Timer
from coherence.language.schema_kinds import Quantity
from coherence.model.laws import law_of
from coherence.verify.patterns.timers.start_budget import is_probe
from coherence.verify.timers.firing import action_of


@dataclass(frozen=True)
class PromiseKind:
    """One sort of default promise: what it says in a word and a sentence, and the questions that it is asked by."""

    name: str
    sentence: str
    codes: tuple[str, ...]


TARGET = PromiseKind("target", "a loop with a setpoint comes to rest, and not short of it", ("COH301", "COH308"))
WRITERS = PromiseKind("writers", "two writers do not undo each other", ("COH205", "COH230", "COH232"))
START = PromiseKind("start", "a probe ends nothing that still starts", ("COH206",))
ORDER = PromiseKind("order", "liveness is slower than readiness", ("COH208",))
DRAIN = PromiseKind("drain", "a budget lets a drain go on", ("COH209",))
ANSWER = PromiseKind("answer", "the answer of a call can still be used", ("COH201",))
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


def default_promises(design: Design) -> Iterator[DefaultPromise]:
    """Yields what each loop, pair of writers, probe, pair of probes, budget and call promises."""
    loops = design.loops.values()
    for loop in loops:
        if law_of(loop) == "proportional" and loop.target is not None and loop.target.setpoint is not None:
            yield DefaultPromise(TARGET, (loop.name,))
    for names in _writers(loops):
        yield from (DefaultPromise(WRITERS, pair) for pair in itertools.combinations(names, 2))
    yield from _of_timers([timer for timer in design.timers.values() if is_probe(timer)])
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


def _of_timers(probes: Sequence[Timer]) -> Iterator[DefaultPromise]:
    actions = {probe.name: action_of(probe) for probe in probes}
    for probe in probes:
        if actions[probe.name] == "ends" and probe.start is not None and probe.start.kind == "starts":
            yield DefaultPromise(START, (probe.name,))
    for first, second in itertools.combinations(probes, 2):
        both = {actions[first.name], actions[second.name]} == {"ends", "takes off the list"}
        if both and first.start == second.start:
            yield DefaultPromise(ORDER, (first.name, second.name))


def render_counts(states: Iterable[tuple[PromiseKind, str]]) -> Iterator[str]:
    """Yields one line for each kind: how many of its promises are in each state."""
    counted = Counter(states)
    for kind in dict.fromkeys(kind for kind, _ in counted):
        listed = ", ".join(f"{number} {state}" for state, number in sorted(_states_of(counted, kind).items()))
        yield f"{kind.name}: {listed} ({kind.sentence}; {', '.join(kind.codes)})"


def _states_of(counted: Counter[tuple[PromiseKind, str]], kind: PromiseKind) -> dict[str, int]:
    return {state: number for (own, state), number in counted.items() if own == kind}


__all__ = ["DefaultPromise", "PromiseKind", "default_promises", "render_counts"]
