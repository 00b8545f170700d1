"""Reads which calls of a caller are made at once, which in turn, and which in a case or after a failure alone.

The calls of one stage are made at once, stages one after another as the design first names them; beside calls with a
stage one without is a stage of its own.  A request of a caller that names cases is exactly one of them, and a call
without a case is made in every one.  A fallback is made when the call that it stands for has failed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from coherence.base.errors import did_you_mean
from coherence.base.queries import cached
from coherence.base.units import shorten
from coherence.language.design import Call, Design
from coherence.language.schema_kinds import Formula, Quantity, Reading, Word

CallChain = tuple[Call, ...]  # a call, and its fallbacks in turn


@dataclass(frozen=True)
class CallCase:
    """What a caller does for a request of one case: stages one after another, the chains of a stage at once.

    `all_made`: the design says that each of them is; `in_order`: it says in which order too.  `name` is empty where
    the caller names no cases.
    """

    name: str
    stages: tuple[tuple[CallChain, ...], ...]
    all_made: bool
    in_order: bool


@cached
def cases_of_callers(design: Design) -> Mapping[str, tuple[CallCase, ...]]:
    """Returns the cases of every caller; one without a name where it names none."""
    return {caller: _cases(calls) for caller, calls in _by_caller(design).items()}


def weights(design: Design) -> Mapping[str, Mapping[str, Quantity]]:
    """Returns caller -> case -> how many of its requests are of it, for the callers that say so."""
    stated = {**{name: component.cases for name, component in design.components.items()},
              **{name: workload.cases for name, workload in design.workload.items()}}  # fmt: skip
    return {name: cases for name, cases in stated.items() if cases is not None}


def case_share(call: Call, stated: Mapping[str, Quantity]) -> tuple[Fraction, Fraction] | None:
    """Returns the least and the largest part of the requests of its caller that make a call, by weights of cases.

    None where a weight is missing or a failure decides.
    """
    names = {word.text for word in call.cases}
    if call.fallback_for is not None or not names <= set(stated) or not any(weight.low for weight in stated.values()):
        return None
    own = [weight for name, weight in stated.items() if name in names]
    rest = [weight for name, weight in stated.items() if name not in names]
    low, high = sum((q.low for q in own), Fraction(0)), sum((q.high for q in own), Fraction(0))
    least, most = sum((q.low for q in rest), Fraction(0)), sum((q.high for q in rest), Fraction(0))
    return (low / (low + most) if low else low, high / (high + least) if high else high)


def is_conditional(call: Call) -> bool:
    """Decides whether a request of the caller may do without the call."""
    return bool(call.cases) or call.fallback_for is not None


def render_order(call: Call) -> str:
    """Returns what a call says about when it is made, for people; empty where it says nothing."""
    cases = f"in case {' or '.join(word.text for word in call.cases)}" if call.cases else ""
    fallback = f"fallback for {call.fallback_for}" if call.fallback_for is not None else ""
    return ", ".join(filter(None, (f"stage {call.stage}" if call.stage is not None else "", cases, fallback)))


def _by_caller(design: Design) -> dict[str, list[Call]]:
    callers: dict[str, list[Call]] = {}
    for call in design.calls:
        callers.setdefault(_end(call.caller), []).append(call)
    return callers


def _end(word: Word | None) -> str:
    return word.text if word is not None else ""


def _cases(calls: Sequence[Call]) -> tuple[CallCase, ...]:
    names, chains = _names(calls), _chains(calls)
    staged = any(call.stage is not None for call in calls)
    return tuple(_case(name, chains, staged=staged, all_made=staged or bool(names)) for name in names or ("",))


def _names(calls: Sequence[Call]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(word.text for call in calls for word in call.cases))


def _chains(calls: Sequence[Call]) -> tuple[CallChain, ...]:
    """Returns each call that is no fallback, with its fallback, that one's, and so on."""
    standing_for = {call.fallback_for.text: call for call in reversed(calls) if call.fallback_for is not None}
    return tuple((call, *_following(call, standing_for)) for call in calls if call.fallback_for is None)


def _following(call: Call, standing_for: Mapping[str, Call]) -> Iterator[Call]:
    seen = {_end(call.callee)}
    while (fallback := standing_for.get(_end(call.callee))) is not None and _end(fallback.callee) not in seen:
        seen.add(_end(fallback.callee))
        yield fallback
        call = fallback


def _case(name: str, chains: Sequence[CallChain], *, staged: bool, all_made: bool) -> CallCase:
    stages: dict[tuple[str, int], list[CallChain]] = {}
    for number, chain in enumerate(chains):
        call = chain[0]
        if not call.cases or name in {word.text for word in call.cases}:
            key = (call.stage.text, 0) if call.stage is not None else ("", number)
            stages.setdefault(key, []).append(chain)
    few = sum(len(stage) for stage in stages.values()) <= 1
    return CallCase(name, tuple(tuple(stage) for stage in stages.values()), all_made or few, staged or few)


def check(design: Design, reading: Reading) -> None:
    """Reports fallbacks for nothing, for themselves or in a circle, and cases that are no choice."""
    if not weights(design) and not any(call.stage is not None or is_conditional(call) for call in design.calls):
        return
    _weights(design, reading)
    _written(design, reading)
    for caller, calls in _by_caller(design).items():
        _only_case(caller, calls, reading)
        for call in calls:
            if call.fallback_for is not None:
                _fallback(call, call.fallback_for, calls, reading)


def _weights(design: Design, reading: Reading) -> None:
    """Reports weights of cases that no call names, cases without a weight, and weights of nothing."""
    named = {caller: _names(calls) for caller, calls in _by_caller(design).items()}
    for caller, own in weights(design).items():
        places = [weight.place for weight in own.values()]
        cases = named.get(caller, ())
        for case, weight in own.items():
            if case not in cases:
                remedy = did_you_mean(case, cases) or f"write `case: {shorten(case)}` on the calls that it makes"
                reading.problem(weight.place, f"no call of '{caller}' is of case '{shorten(case)}'", remedy)
        missing = [case for case in cases if case not in own]
        if missing and places:
            message = f"'{caller}' says of some of its cases how many they are, and not of {', '.join(missing)}"
            reading.problem(places[0], message, f"add `{missing[0]}: 10 %`")
        if places and not any(weight.high for weight in own.values()):
            reading.problem(places[0], f"no request of '{caller}' is of any case", "give one a weight above 0")


def weight_path(caller: str, case: str) -> str:
    """Returns the signal of a weight, which loops write and expressions read."""
    return f"{caller}.cases.{case}"


def moved_by(design: Design, caller: str) -> str:
    """Returns what would say how the requests of a caller are divided where a loop writes its weights; else nothing."""
    own = {weight_path(caller, case) for case in weights(design).get(caller, ())}
    loops = (loop for loop in design.loops.values() if loop.actuation is not None and loop.actuation.signal is not None)
    writer = next((loop.name for loop in loops if loop.actuation and str(loop.actuation.signal) in own), "")
    return f"the weights of {caller} that {writer} comes to rest at, as numbers" if writer else ""


def _written(design: Design, reading: Reading) -> None:
    """Reports loops that write weights that are not there, or beyond the range that is stated of them."""
    stated = {weight_path(c, case): weight for c, own in weights(design).items() for case, weight in own.items()}
    for loop in design.loops.values():
        written = loop.actuation.signal if loop.actuation is not None else None
        caller, weighed, case = written.text.partition(".cases.") if written is not None else ("", "", "")
        if written is None or loop.actuation is None or not weighed:
            continue
        weight, bounds = stated.get(written.text), [b for b in loop.actuation.bounds if isinstance(b, Quantity)]
        if weight is None:
            remedy = did_you_mean(written.text, stated) or f"write `cases: {{{shorten(case)}: 1 .. 9, ...}}`"
            reading.problem(written.place, f"'{shorten(caller)}' has no weight of '{shorten(case)}'", remedy)
        elif len(bounds) != 2 or bounds[0].low < weight.low or bounds[1].high > weight.high:
            message = f"{loop.name} may write {written.text} beyond the range that is stated of it, {weight}"
            reading.problem(written.place, message, "state the bounds of the loop, and a range that holds them")
        elif (first := loop.actuation.initial) is not None and not _within(first, weight):
            message = f"{loop.name} finds {written.text} at {first}, beyond the range that is stated of it, {weight}"
            reading.problem(first.place, message, "begin at a number within the range, or widen the range")
        around = (b for b in design.boundaries.values() if caller in (word.text for word in b.around))
        for boundary in (b for b in around if {"gain", "granularity"} & b.constants.keys()):
            message = f"{boundary.name} changes what is written to {written.text}, which is not read of a weight"
            reading.problem(boundary.place, message, f"leave {caller} out of it, or the loop inside it")


def _within(first: Quantity | Formula, weight: Quantity) -> bool:
    """Decides whether what a loop finds at the start is a number within the range of a weight."""
    return isinstance(first, Quantity) and weight.low <= first.low and first.high <= weight.high


def _only_case(caller: str, calls: Sequence[Call], reading: Reading) -> None:
    names = _names(calls)
    if len(names) == 1:
        word = next(word for call in calls for word in call.cases)
        message = f"'{shorten(word.text)}' is the only case of '{caller}': each of its requests would be one"
        reading.problem(word.place, message, "name its other cases too, `case: [hit, miss]` where a call is in both")


def _fallback(call: Call, word: Word, calls: Sequence[Call], reading: Reading) -> None:
    """Reports what makes it unclear after which failure a call is made."""
    caller, failing = _end(call.caller), [other for other in calls if _end(other.callee) == word.text]
    others = {_end(other.callee): None for other in calls if other is not call}
    if call.cases or call.stage is not None:
        place = (call.cases[0] if call.cases else call.stage or word).place
        message = f"{call.name} is made where the call to '{word.text}' is: in its stage and its cases"
        reading.problem(place, message, "remove `stage` and `case` beside `fallback_for`")
    if not failing:
        reading.problem(word.place, f"'{caller}' does not call '{shorten(word.text)}'", did_you_mean(word.text, others))
    elif len(failing) > 1:
        message = f"'{caller}' calls '{word.text}' {len(failing)} times: which of them has failed is not clear"
        reading.problem(word.place, message, "give the part that is called twice two names")
    elif _in_circle(call, calls):
        reading.problem(word.place, f"{call.name} is a fallback of itself", "name the call that is made first")
    elif next(other for other in calls if _end(other.fallback_for) == word.text) is not call:
        first = next(other for other in calls if _end(other.fallback_for) == word.text)
        message = f"'{word.text}' has a fallback already: {first.name}"
        reading.problem(word.place, message, f"write `fallback_for: {first.callee}`, which is tried before")


def _in_circle(call: Call, calls: Sequence[Call]) -> bool:
    """Decides whether the calls that a fallback stands for lead back to it."""
    following = {_end(other.callee): other for other in calls}
    waiting, seen = call, set[str]()
    while waiting.fallback_for is not None and waiting.fallback_for.text in following:
        waiting = following[waiting.fallback_for.text]
        if waiting is call or _end(waiting.callee) in seen:
            return True
        seen.add(_end(waiting.callee))
    return False
