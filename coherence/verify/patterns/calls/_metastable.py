"""The answer about one workload and one callee: no overload lasts, one does and is reached, or what is missing."""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction

from coherence.base.number_text import render_decimal, render_seconds
from coherence.base.places import Place
from coherence.findings.finding import Evidence, Finding, Grade, Repair, Step
from coherence.findings.question_input import Certificate, Question, Subject, arithmetic, details_are_asked, rational
from coherence.findings.repairs import change, proposal
from coherence.language.entries.limit_numbers import most_allowed
from coherence.language.schema_kinds import Formula, Quantity
from coherence.model.components import RETRIES_APART
from coherence.simulate.metastability.fluid import Disturbance, course, smallest_pause
from coherence.simulate.metastability.load_map import Portrait, PortraitVerdict, overload, portrait
from coherence.verify.calls.call_graph import NO_WAIT, call_tree
from coherence.verify.calls.claims import Numbers, bounded_sum
from coherence.verify.calls.repairs import fewer_tries, offered
from coherence.verify.calls.retry_policies import RetryPolicy
from coherence.verify.facts.design_facts import known, scalers
from coherence.verify.patterns.calls import _metastable_referee as referee
from coherence.verify.patterns.calls._load_amplification import (
    AmplifiedLoad,
    in_flight_limit,
    retry_limits,
    share_of,
    unread_window,
)
from coherence.verify.patterns.calls._metastable_call import CallFacts, burst_delay, facts, far_apart, places_held, room
from coherence.verify.patterns.calls._metastable_referee import disagreement, shortest_pause, two_digits, with_members
from coherence.verify.queues.offered_load import own_time

DAY = 86_400.0  # s: an overload that noise alone is expected to begin within a day is one that happens
FLUID = "by the fluid reading: mean rates, every try of an overload times out (noise may begin one that drains)"
MEAN_FIELD = "M/M/c with independent late tries (mean field): real noise crosses the edge earlier"
MEMORYLESS = "service times are exponential and a cancelled try frees its server at once: no work is wasted"
NOISE = "a Markov chain whose retries come back after an exponential time: a factor of two either way"


def answer(question: Question, subject: Subject, load: AmplifiedLoad) -> Finding:
    """Arithmetic first; the closed forms of waiting only where an overload would keep itself up."""
    within = _within(question, subject, load)
    if within is not None:
        return _leaf(question, subject, load) or with_members(question, subject, load, within)
    if load.capacity.low <= 0:
        none = f"needs {load.callee} to have a member at all times (lowest number of copies 1)"
        return question.undecided(none, load.places, load.of)
    kept_up = load.by_fewest if load.hedged else load
    if kept_up is None:
        copies = " and ".join(plan.name for plan in load.hedged)
        needs = f"needs a simulation: second copies of {copies} may keep up an overload of {load.callee}"
        return question.undecided(needs, load.places, load.of)
    load = kept_up
    if load.share:
        return question.undecided(f"needs {load.share}", load.places, load.of)
    if load.worst is not None and load.lasting is not None and load.worst < load.capacity.low <= load.lasting:
        often = f"make {render_decimal(load.often)} req/s in the mean"
        needs = f"needs a simulation: the bursts of {load.workload.name} {often}"
        return question.undecided(needs, load.places, load.of)
    if load.crowd is not None and load.worst is not None and load.worst < load.capacity.low:
        names = ", ".join(name for name, _ in load.beside)
        needs = f"needs a simulation: together with {names} the retries may overload {load.callee}"
        return question.undecided(needs, load.places, load.of)
    if load.worst is not None and load.worst < load.capacity.low:
        names = ", ".join(name for name, most in load.beside if most is None)
        return question.undecided(
            f"needs rate and tries of {names}, which also calls {load.callee}", load.places, load.of
        )
    return _overload(question, subject, load)


def _within(question: Question, subject: Subject, load: AmplifiedLoad) -> Finding | None:
    """Proved, where the load stays below the capacity even while every try times out."""
    limit = in_flight_limit(subject.design, load)
    alone = len(load.ways) == 1 and len(load.ways[0]) == 1 and not load.beside
    each = load.ways[0][0].limit if alone else None
    if load.crowd is not None and load.crowd < load.capacity.low:
        most, of, places = load.crowd, load.of, load.places
    elif limit is not None and (allowed := most_allowed(subject.design, limit)) and each is not None and each.low > 0:
        most, of = allowed.high / each.low, (*load.of, limit.name)
        places = [*load.places, allowed.place.labelled(f"{limit.name} lets this many in flight")]
        if most >= load.capacity.low:
            return None
    else:
        return None
    names = " and ".join((load.workload.name, *(name for name, _ in load.beside)))
    message = (
        f"even when every try times out, {names} sends {render_decimal(most)} req/s to {load.callee}, which can serve "
        f"{render_decimal(load.capacity.low)}: no overload lasts"
    )
    margin = 1 - most / load.capacity.low
    numbers: Numbers = {**load.numbers, "load when all time out": (most, "req/s"), "margin": (margin, "")}
    certificate = bounded_sum({"load": most}, load.capacity.low)
    assumed = [FLUID, *load.capacity.slots.assumed(load.callee)]
    return question.proved(message, places, of, arithmetic(numbers, certificate=certificate), assumptions=assumed)


def _leaf(question: Question, subject: Subject, load: AmplifiedLoad) -> Finding | None:
    """Undecided, where the callee itself calls on: its servers wait meanwhile, and it serves less than is stated."""
    onward = call_tree(subject.design).of_caller.get(load.callee, ())
    if not onward:
        return None
    names = ", ".join(dict.fromkeys(plan.callee for plan in onward))
    needs = f"needs a simulation: {load.callee} waits for {names} while it serves, and can serve less than it states"
    return question.undecided(needs, load.places, load.of)


def _unclear(subject: Subject, load: AmplifiedLoad) -> str:
    """Returns why the load of an overload is not known: a budget that is another share, copies that a loop sets."""
    design = subject.design
    limits = (limit for way in load.ways for plan in way for limit in retry_limits(design, plan))
    other = next((limit for limit in limits if isinstance(limit.at_most, Formula) and share_of(limit) is None), None)
    if other is not None:
        return f"{other.name} is a share of something else than the calls that it bounds"
    if unread := unread_window(design, load):
        return f"how many retries {unread} lets through is no stated number"
    members = known(subject)
    writers = [*scalers(members, load.callee), *(w.name for w in members.written.get(f"{load.callee}.ready", ()))]
    if writers and load.worst is not None and load.worst < load.capacity.high:
        return f"{writers[0]} may give {load.callee} the copies that end an overload"
    return ""


def _overload(question: Question, subject: Subject, load: AmplifiedLoad) -> Finding:
    """Answers, where the load reaches the capacity while all time out: is work given up still done, what begins it."""
    on_timeouts = [(plan, plan.call.on_timeout.text if plan.call.on_timeout else "") for plan in load.retrying]
    unsaid = next((plan.name for plan, word in on_timeouts if not word), None)
    if unsaid is not None:
        needs = f"needs on_timeout of {unsaid}: with abandon an overload of {load.callee} may keep itself up"
        return question.undecided(needs, load.places, load.of)
    time = own_time(known(subject), load.callee) if load.workload.service is None else None
    if time is not None and not time.exact and load.worst is not None and load.worst < load.capacity.high:
        from coherence.verify.queues.service_means import mean_time

        needs = f"needs {mean_time(load.callee, time, load.workload.name)}: its retries overload it, or do not"
        return question.undecided(needs, load.places, load.of)
    if unclear := _unclear(subject, load):
        return question.undecided(f"needs a simulation: {unclear}", load.places, load.of)
    far = next((plan for plan in load.retrying if far_apart(plan)), None)
    if far is not None:
        needs = f"needs a simulation: the pauses of {far.name} are long or not known, its retries may miss the overload"
        return question.undecided(needs, load.places, load.of)
    measured, full = facts(subject, load), room(subject.design, load.callee)
    if all(word == "cancel" for _, word in on_timeouts):
        return with_members(question, subject, load, _cancelled(question, load, measured))
    slow = min((plan.limit.low for plan in load.retrying if plan.limit is not None), default=Fraction(0))
    held = places_held(subject.design, full, load.capacity.low)
    if full is not None and held is not None and held[0] / load.capacity.low <= slow:
        return referee.in_time(question, subject, load, full, slow)
    return _reached(question, subject, load, measured, slow)


def _cancelled(question: Question, load: AmplifiedLoad, measured: CallFacts | None) -> Finding:
    """Exponential service loses nothing by a cancellation: busy servers answer at their capacity."""
    if measured is None or not measured.memoryless or load.beside:
        lacking = ", ".join(measured.missing) if measured is not None and measured.missing else "a simulation"
        needs = f"needs {lacking}: what a cancelled try has cost {load.callee} depends on it"
        return question.undecided(needs, load.places, load.of)
    facts_ = (f"(= answers {rational(load.capacity.low)})", f"(<= answers {rational(load.rate.high)})")
    certificate = Certificate({"answers": "Real"}, facts_, "false").script()
    if load.often >= load.capacity.low:
        often = f"make {render_decimal(load.often)} req/s in the mean"
        needs = f"needs a simulation: the bursts of {load.workload.name} {often}"
        return question.undecided(needs, load.places, load.of)
    message = (
        f"no overload of {load.callee} lasts: all busy it answers {render_decimal(load.capacity.low)} req/s, "
        "more than the "
        f"{render_decimal(load.rate.high)} first tries, and cancelled tries leave it"
    )
    evidence = arithmetic(load.numbers, certificate=certificate)
    assumed = [FLUID, MEMORYLESS, *load.capacity.slots.assumed(load.callee)]
    return question.proved(message, load.places, load.of, evidence, assumptions=assumed)


def _reached(
    question: Question, subject: Subject, load: AmplifiedLoad, measured: CallFacts | None, slow: Fraction
) -> Finding:
    """Returns what begins the overload: the first tries themselves, the stated burst, or noise; else what to state."""
    if measured is None:
        wait = burst_delay(load.workload, load.capacity.low)
        if wait is not None and wait >= slow > 0:
            return _by_burst(question, subject, load, None, wait)
        return _unreached(question, load, None, slow, "")
    if measured.capped and measured.call.pause > 0:
        needs = f"needs a simulation: retries of {load.callee} that pause miss and find a cap by turns"
        return question.undecided(needs, load.places, load.of)
    points = None if measured.missing else portrait(measured.call)
    if points is not None and points.verdict is PortraitVerdict.COLLAPSED:
        return _by_itself(question, subject, load, points)
    if overload(measured.call) < measured.call.capacity:
        full = in_flight_limit(subject.design, load)
        caps = " and ".join((*load.budgets, *((full.name,) if full else ())))
        needs = f"needs a simulation: {caps} lets about as many tries through as {load.callee} can serve"
        return question.undecided(needs, load.places, load.of)
    burst, note = load.workload.burst, ""
    if burst is not None and burst.rate is not None and burst.lasts is not None:
        wait = burst_delay(load.workload, load.capacity.low)
        after = course(measured.call, Disturbance(float(burst.lasts.high), float(burst.rate.high)))
        if after.collapses:
            if (differing := disagreement(subject, load, measured, after.backlog)) is not None:
                return question.undecided(differing, load.places, load.of)
            grown = after.backlog / measured.call.capacity
            return _by_burst(question, subject, load, (measured, points, grown), wait or Fraction(0))
        over = render_seconds(two_digits(after.recovery))
        waves = f"waves of retries still come and go {over} after the stated burst; "
        note = f"the stated burst is over {over} after its end; " if after.followed else waves
    noisy = _by_noise(question, subject, load, measured, points)
    if noisy is not None and (differing := disagreement(subject, load, measured)) is not None:
        return question.undecided(differing, load.places, load.of)
    return noisy or _unreached(question, load, measured, slow, note)


def _by_itself(question: Question, subject: Subject, load: AmplifiedLoad, points: Portrait) -> Finding:
    message = (
        f"{load.callee} has no healthy operating point: {render_decimal(load.rate.high)} first tries a second make "
        f"{_times(load)} sends each, and the retries of late tries alone reach "
        f"{render_decimal(load.capacity.low)} req/s"
    )
    witness = (
        Step(Fraction(0), f"{load.workload.name} begins to call {load.callee}, which is empty"),
        Step(None, "some tries are late by chance and are sent again; the load that they make makes more of them late"),
        Step(
            None,
            f"the queue passes the limit of a try: {_load_of(load)} against {render_decimal(load.capacity.high)} req/s",
        ),
        Step(None, "every try times out and is still served: nobody is answered in time any more"),
    )
    evidence = Evidence(Grade.ESTIMATED, "load map of M/M/c", witness, None, {**load.numbers, **_points(points)})
    return _conflict(question, subject, load, message, evidence, load.places, [MEAN_FIELD])


def _by_burst(
    question: Question,
    subject: Subject,
    load: AmplifiedLoad,
    known: tuple[CallFacts, Portrait | None, float] | None,
    wait: Fraction,
) -> Finding:
    burst = load.workload.burst
    assert burst is not None
    assert burst.rate is not None
    assert burst.lasts is not None
    numbers: Numbers = {**load.numbers, "delay after the burst": (wait, "s")}
    assumptions = [FLUID]
    measured, points, grown = known or (None, None, float(wait))
    if measured is not None:
        numbers["delay with retries"] = (two_digits(grown), "s")
        if details_are_asked():
            numbers |= shortest_pause(measured)
        if points is not None:
            numbers |= _points(points)
            assumptions += [MEAN_FIELD]
    slow = min((plan.limit.low for plan in load.retrying if plan.limit is not None), default=Fraction(0))
    witness = _burst_steps(load, measured, two_digits(grown), slow)
    message = f"after the burst {_keeps(load)}"
    places = [*load.places, burst.rate.place.labelled("this disturbance reaches it")]
    exact = wait >= slow and (
        measured is None or (not measured.capped and measured.call.pause == 0)
    )  # first tries alone do it
    evidence = (
        arithmetic(numbers, witness=witness)
        if exact
        else Evidence(Grade.SIMULATED, "fluid of first tries and retries", witness, None, numbers)
    )
    return _conflict(question, subject, load, message, evidence, places, assumptions)


def _burst_steps(load: AmplifiedLoad, measured: CallFacts | None, delay: Fraction, slow: Fraction) -> tuple[Step, ...]:
    """Returns what the burst begins; `delay`: of the queue at its end; `slow`: the shortest limit of a try."""
    burst = load.workload.burst
    assert burst is not None
    assert burst.rate is not None
    assert burst.lasts is not None
    over, capacity = burst.lasts.high, render_decimal(load.capacity.high)
    waits = f"the queue of {load.callee} delays by {render_seconds(delay)}, tries end after {render_seconds(slow)}"
    again = f"every try times out and is sent again: {_load_of(load, measured)} against {capacity}"
    return (
        Step(Fraction(0), f"a burst of {burst.rate.text} begins"),
        Step(over, f"it ends; {waits}"),
        Step(over + slow, again),
        Step(None, "the queue never becomes shorter than the limit of a try: the burst is over, the overload stays"),
    )


def _by_noise(
    question: Question, subject: Subject, load: AmplifiedLoad, measured: CallFacts, points: Portrait | None
) -> Finding | None:
    """Conflict, where noise is expected to cross the edge within a day.  numpy and scipy are first needed here."""
    if points is None or not measured.memoryless or measured.capped or load.beside or measured.call.pause > 0:
        return None
    from coherence.simulate.metastability.retry_chain_models import fits, noise

    if not fits(measured.call):
        return None
    quiet = noise(measured.call)
    if quiet.low_to_high > DAY:
        return None
    hour = quiet.chance(3600.0)
    soon = f"noise alone is expected to begin an overload of {load.callee} within {_about(quiet.low_to_high)}"
    witness = (
        Step(Fraction(0), f"{load.workload.name} is served in time"),
        Step(two_digits(quiet.low_to_high), f"on average by then chance fills the queue beyond {_edge(points)}"),
        Step(
            None,
            f"every try times out and is sent again: {_load_of(load)} against "
            f"{render_decimal(load.capacity.high)} req/s",
        ),
    )
    numbers = {**load.numbers, **_points(points), "mean time until noise collapses it": (quiet.low_to_high, "s")}
    numbers |= {"chance of it per hour": (hour, ""), "mean time back": (quiet.high_to_low, "s")}
    evidence = Evidence(Grade.ESTIMATED, "Markov chain of queue and waiting retries", witness, None, numbers)
    return _conflict(question, subject, load, f"{soon}; {_keeps(load)}", evidence, load.places, [MEAN_FIELD, NOISE])


def _unreached(
    question: Question, load: AmplifiedLoad, measured: CallFacts | None, slow: Fraction, note: str
) -> Finding:
    """Answers that an overload would stay, but nothing stated reaches it."""
    needs = f"needs a disturbance (burst of {load.workload.name}) that delays {load.callee} by {render_seconds(slow)}"
    shortest = (
        smallest_pause(measured.call).seconds
        if details_are_asked() and measured is not None and overload(measured.call) >= measured.call.capacity
        else math.inf
    )
    pause = f", as a pause of {render_seconds(two_digits(shortest))} does" if math.isfinite(shortest) else ""
    lacking = (
        f" (noise alone: needs {' and '.join(measured.missing)})" if measured is not None and measured.missing else ""
    )
    return question.undecided(f"{note}{needs}{pause}: {_keeps(load)}{lacking}", load.places, load.of)


def _conflict(
    question: Question, subject: Subject, load: AmplifiedLoad, message: str, evidence: Evidence, places: list[Place],
    assumptions: list[str],
) -> Finding:  # fmt: skip
    repairs = offered(*_repairs(subject, load))
    return question.conflict(
        message, places, load.of, evidence, certain=False, assumptions=assumptions, repairs=repairs
    ).refuting(NO_WAIT.format(load.callee), RETRIES_APART.format(load.workload.name))  # fmt: skip


def _repairs(subject: Subject, load: AmplifiedLoad) -> Iterator[Repair | None]:
    """So few tries, or so many copies, that the load of an overload is below the capacity."""
    plan: RetryPolicy = load.retrying[0]
    room_ = load.capacity.low / load.rate.high
    if len(load.retrying) == 1:
        yield fewer_tries(subject, plan, math.ceil(room_) - 1 if room_ > 1 else None)
    component = subject.design.components.get(load.callee)
    stated = component.copies if component is not None else None
    if isinstance(stated, Quantity) and stated.exact and load.worst is not None:
        enough = math.floor(load.worst / load.capacity.low * stated.low) + 1
        yield proposal(change(subject, stated, Fraction(enough)))


def _points(points: Portrait) -> Numbers:
    """Returns the fixed points as numbers: load and sends at the healthy point, at the edge, and of the overload."""
    names = {
        "healthy": points.healthy,
        "edge": points.edges[0] if points.edges else None,
        "overload": points.points[-1],
    }
    if points.verdict is PortraitVerdict.COLLAPSED:
        names["healthy"] = None
    finite = {name: point for name, point in names.items() if point is not None and math.isfinite(point.load)}
    numbers: Numbers = {f"{name} load": (point.load, "req/s") for name, point in finite.items()}
    return numbers | {f"{name} sends": (point.sends, "") for name, point in finite.items()}


def _edge(points: Portrait) -> str:
    return f"the edge of {points.edges[0].load:.4g} req/s" if points.edges else "the edge"


def _times(load: AmplifiedLoad) -> str:
    return "any number of" if load.sends is None else f"up to {render_decimal(load.sends)}"


def _load_of(load: AmplifiedLoad, measured: CallFacts | None = None) -> str:
    """Returns the load of an overload, a breaker included."""
    most = None if load.worst is None else float(load.worst)
    if measured is not None and math.isfinite(measured.call.breaker):
        most = min(overload(measured.call), math.inf if most is None else most)
    return "retries without end" if most is None else f"{most:.7g} req/s"


def _keeps(load: AmplifiedLoad) -> str:
    times = "any number of" if load.sends is None else render_decimal(load.sends)
    overload_ = f"an overload of {load.callee} ({render_decimal(load.capacity.high)} req/s) keeps itself up"
    return f"each first try becomes {times} sends, so {overload_}"


def _about(time: float) -> str:
    return render_seconds(two_digits(time))
