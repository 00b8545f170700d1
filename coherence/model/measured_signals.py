"""Derives what a run measures of a thing that is called, where something reads it: its arrivals and its utilization.

Arrivals are first tries; utilization is them over what all members serve, as a run measures it: it passes 1 where more
comes.  Nothing is derived where the design does not say who sends how often, how long a request takes, on how many of
them a member works at once and which signal counts the members; nor where a failure decides what is sent.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from fractions import Fraction
from functools import partial

from coherence.base.queries import cached
from coherence.base.reads import unnoted
from coherence.base.units import ONE, SECOND
from coherence.language import names
from coherence.language.call_cases import case_share, moved_by, weight_path, weights
from coherence.language.calls import Call
from coherence.language.design import Component, Design, Limit
from coherence.language.entries.member_slots import closing, member_slots
from coherence.language.entries.repeated_sends import sends_again
from coherence.language.expressions.tree import Arithmetic, Name, Number, Tree
from coherence.language.expressions.tree import names as tree_names
from coherence.language.implied import EACH
from coherence.language.roles import others_of_an_answer, own_workload, role, time_of
from coherence.language.schema_kinds import Quantity
from coherence.language.words import STATES
from coherence.language.workloads import Workload

DERIVED = ("arrivals", "utilization")
SERVING = ("ready", *STATES["wanted"])  # signals that count the members that serve, as a loop may write them
PASSES_ONE = "{0}.utilization is what comes over what {0} can serve: it passes 1 where more comes than that"
WITHOUT_CALLS = "the time in which {0} waits for what it calls is not counted in {0}.utilization"
ALL_SENT_ON = "{0} sends on all that comes to it"


@cached
@unnoted()
def derived_signals(design: Design) -> tuple[str, ...]:
    """Returns the signals that something reads, no one states, and which follow from the loads and members."""
    if not (read := _read_by_somebody(design)):
        return ()  # then no edit of a call or of a workload changes the model
    loaded = {call.callee.text for call in design.calls if call.callee is not None} | design.workload.keys()
    own = (path for path in read if path.partition(".")[0] in loaded & design.components.keys())
    return tuple(path for path in own if not _is_stated(design, path) and derived_tree(design, path) is not None)


def _read_by_somebody(design: Design) -> list[str]:
    """Returns the names of signals that could be derived, as loops, promises and components read them."""
    formulas = [formula for loop in design.loops.values() for formula in names.loop_formulas(loop)]
    formulas += names.promise_formulas(design)
    for component in design.components.values():
        plant = names.state_formula(component)
        formulas += [*names.component_formulas(component), *([plant] if plant is not None else [])]
    read = {path for formula in formulas for path in tree_names(formula.tree)}
    return sorted(path for path in read if path.rpartition(".")[2] in DERIVED)


def derived_tree(design: Design, path: str) -> Tree | None:
    """Returns a derived signal as an expression of what the design states; None where it does not follow."""
    thing, _, word = path.rpartition(".")
    arrivals = _arrivals(design, thing, ())
    if arrivals is None or word == "arrivals":
        return arrivals
    capacity = _capacity(design, thing)
    return Arithmetic("/", arrivals, capacity) if capacity is not None else None


def simplifications(design: Design, path: str) -> Iterator[str]:
    """Yields what a derived signal leaves out."""
    thing, _, word = path.rpartition(".")
    yield from (ALL_SENT_ON.format(caller) for caller in _senders(design, thing) if caller in design.components)
    if word == "utilization":
        yield PASSES_ONE.format(thing)
        yield from [WITHOUT_CALLS.format(thing)] if _calls_on(design, thing) else []


def is_direct(design: Design, path: str) -> bool:
    """Decides whether nobody stands between the workloads and a thing, nor between it and the end of its work."""
    thing = path.rpartition(".")[0]
    return not _calls_on(design, thing) and not any(caller in design.components for caller in _senders(design, thing))


def _is_stated(design: Design, path: str) -> bool:
    thing, _, word = path.rpartition(".")
    component = design.components[thing]
    stated = component.part is not None or component.state is not None or word in component.constants
    return stated or word in (component.takes or {}) or word in names.written(design).get(thing, ())


def _calls_on(design: Design, thing: str) -> bool:
    return any(call.caller is not None and call.caller.text == thing for call in design.calls)


def _senders(design: Design, thing: str) -> Iterator[str]:
    for call in design.calls:
        if call.callee is not None and call.callee.text == thing and call.caller is not None:
            yield call.caller.text


def _arrivals(design: Design, thing: str, behind: tuple[str, ...]) -> Tree | None:
    """Returns the first tries that come to a thing, of all who send there; None where one of them is not known."""
    own, terms = own_workload(design, thing), list[Tree | None]()
    if thing in behind:
        return None
    if own is not None:
        terms.append(_sent(own))
    for call in design.calls:
        if call.callee is not None and call.callee.text == thing:
            terms.append(_sent_by(design, call, (*behind, thing)))
    stated = [term for term in terms if term is not None]
    return _sum(stated) if stated and len(stated) == len(terms) else None


def _sent(workload: Workload) -> Tree | None:
    return Name(f"{workload.name}.attempts") if workload.rate is not None else None


def _sent_by(design: Design, call: Call, behind: tuple[str, ...]) -> Tree | None:
    """Returns the first tries of one call; None where they depend on failures, or on who is not known."""
    caller = call.caller.text if call.caller is not None else ""
    if any(_holds_back(design, limit, caller) for limit in design.limits.values()):
        return None
    if call.fallback_for is not None or call.hedge_after is not None or call.breaker is not None:
        return None
    if caller in design.components:
        whole = None if caller in sends_again(design) else _arrivals(design, caller, behind)
    else:
        whole = _sent(design.workload[caller]) if caller in design.workload else None
    share = _share(design, call, caller) if call.cases else Number(Fraction(1))
    return Arithmetic("*", whole, share) if whole is not None and share is not None else None


def _holds_back(design: Design, limit: Limit, caller: str) -> bool:
    """Decides whether a limit may keep requests of a caller from what it calls: all but those on its members' work."""
    heads = {path.partition(".")[0] for path in tree_names(limit.counts.tree)} if limit.counts is not None else set()
    slots = member_slots(design, caller)
    waits = not limit.rejects and slots is not None and limit in slots.limits
    return caller in heads and not waits


def _share(design: Design, call: Call, caller: str) -> Tree | None:
    """Returns the part of the requests of its caller that make a call, by the weights of its cases."""
    stated = weights(design).get(caller, {})
    share = case_share(call, stated)
    if share is None:
        return None
    if share[0] == share[1] and not moved_by(design, caller):
        return Number(share[0])
    own = _sum([Name(weight_path(caller, word.text)) for word in call.cases])
    return Arithmetic("/", own, _sum([Name(weight_path(caller, case)) for case in stated]))


def _capacity(design: Design, thing: str) -> Tree | None:
    """Returns what all members of a thing serve per second."""
    component, each = design.components[thing], _each(design, thing)
    members = next((f"{thing}.{word}" for word in SERVING if word in names.written(design).get(thing, ())), "")
    if not members and isinstance(component.copies, Quantity):
        members = f"{thing}.copies"
    return Arithmetic("*", Name(members), each) if members and each is not None else None


def _each(design: Design, thing: str) -> Tree | None:
    """Returns what one member of a thing serves per second: its rate, or its places over the time of a request."""
    component = design.components[thing]
    rates = [key for key in component.constants if key.startswith(EACH)]
    if rates:
        rate = component.constants[rates[0]]
        plain = isinstance(rate, Quantity) and rate.low > 0 and rate.dimension.physical == ONE / SECOND
        return Name(f"{thing}.{rates[0]}") if plain and len(rates) == 1 else None
    slots, time = member_slots(design, thing), _own_time(design, thing)
    if time is None or closing(design, thing) is not None or slots is None or not slots.limits:
        return None
    return Arithmetic("/", Number(slots.low), time) if slots.low == slots.high else None


def _own_time(design: Design, thing: str) -> Tree | None:
    """Returns the time of a request at a thing, where no workload states another one."""
    component = design.components[thing]
    stated = any(workload.service is not None for workload in design.workload.values())
    time = time_of(component, "answer")
    if stated or time is None or time.low <= 0 or others_of_an_answer(design, thing):
        return None
    return _sum([Name(f"{thing}.{activity}") for activity in _answering(component)])


def _answering(component: Component) -> list[str]:
    """Returns the activities that `time_of` counts as an answer, of which no others are parts."""
    return [activity for activity in component.takes or () if role(component, activity) == "answer"]


def _sum(terms: list[Tree]) -> Tree:
    total = terms[0]
    for term in terms[1:]:
        total = Arithmetic("+", total, term)
    return total


def derived_outputs(design: Design) -> Mapping[str, Callable[[], Tree]]:
    """Returns how to make the expression of each derived signal, which then reads what it is made of."""
    return {path: partial(_derived, design, path) for path in derived_signals(design)}


def _derived(design: Design, path: str) -> Tree:
    tree = derived_tree(design, path)
    return tree if tree is not None else Number(Fraction(0))
