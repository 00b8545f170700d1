"""shutdown-vs-retry: what a policy ends and another policy starts again gets done in between.

## What
A timer ends a job after a fixed time, and the job comes back: it `returns`, the timer puts it back into the queue
(`then: requeue job`), or its caller tries again. If the job needs longer than the timer allows and keeps no progress,
every life ends like the one before. A job that writes a checkpoint keeps what it had reached: `checkpoint: 10 min` on
the component is how often, `takes: {checkpoint: 30 s}` how long the writing takes; then each life must be long enough
for at least one.

## Why it hurts
Machines are held and work is done, for ever, and nothing is completed; no error says so, since each end is ordered and
each start succeeds.

## Example
```yaml
coherence: 1
components: {job: {takes: {load: 10 min, run: 90 min .. 2 h}, returns: always}}
timers: {policy: {from: job starts, after: 1 h, then: stop job}}
```

## Instead
```yaml
coherence: 1
components: {job: {takes: {load: 10 min, run: 90 min .. 2 h, checkpoint: 1 min}, checkpoint: 15 min, returns: always}}
timers: {policy: {from: job starts, after: 1 h, then: stop job}}
```

## Source
Competing shutdown and retry logic: terminated by policy infinitely often and no progress, which holds where the
deadline of the policy is shorter than the needed time and no budget bounds the tries.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

from coherence.base.number_text import render_seconds
from coherence.base.places import Place
from coherence.base.units import SECOND
from coherence.findings import repairs
from coherence.findings.finding import Finding, Repair, Step
from coherence.findings.question_input import Question, Subject, arithmetic
from coherence.language.design import Component, Design, Timer
from coherence.language.entries.actions import takes_back
from coherence.language.roles import role
from coherence.language.schema_kinds import Quantity
from coherence.verify.calls.attempts import ZERO, DurationInterval
from coherence.verify.calls.call_graph import call_tree
from coherence.verify.calls.claims import Numbers, bounded_sum
from coherence.verify.calls.repairs import longer, offered
from coherence.verify.calls.retry_policies import RetryPolicy
from coherence.verify.events.bounds import ended_by
from coherence.verify.timers.firing import firing
from coherence.verify.timers.firing import lease as lease_of

QUESTION = Question("COH218", "shutdown-vs-retry", "ai.04 runtime control coherence")
QUESTIONS = (QUESTION,)
LAST_CHECKPOINT = "a life goes on where the last checkpoint was written"
SAVES = ("checkpoint", "dump")  # activities that keep the work of a life, and are none of it


@dataclass(frozen=True)
class Life:
    """A thing that a timer ends: seconds that it is given, that it needs, and how it comes back."""

    timer: Timer
    component: Component
    given: DurationInterval
    before: DurationInterval  # start-up in every life
    work: DurationInterval
    back: tuple[RetryPolicy, ...]  # calls that try again; none: it returns by itself


def ask(subject: Subject) -> Iterator[Finding]:
    """Yields every timer that ends a thing which comes back."""
    design = subject.design
    for timer in design.timers.values():
        ended = ended_by(timer)
        component = design.components.get(ended)
        if component is not None and _from_its_start(timer, component):
            yield from _timer(subject, timer, component)
        elif ended and not _is_declared(design, ended) and timer.unless is None and timer.start is not None:
            yield from _unnamed(design, timer, design.components.get(timer.start.thing))


def absences(subject: Subject) -> Iterator[Finding]:
    """Yields a proof for each timer that is always renewed before it fires, so that it ends nothing that returns."""
    from coherence.verify.events.renewals import in_time, renewal_of

    design = subject.design
    for timer in design.timers.values():
        component, lease = design.components.get(ended_by(timer)), lease_of(timer)
        renewal = renewal_of(design, timer) if component is not None and timer.renew is not None else None
        if component is None or lease is None or renewal is None or in_time(design, timer) is not True:
            continue
        latest = renewal.interval.latest or ZERO
        evidence = arithmetic({}, certificate=bounded_sum({"renewed": latest}, lease.window.earliest))
        message = f"{timer.name} is renewed each {render_seconds(latest)}, and fires no earlier than it is due"
        yield QUESTION.absent(message, (timer.place,), (timer.name, component.name), evidence)


def _is_declared(design: Design, name: str) -> bool:
    return any(name in section for section in (design.components, design.jobs, design.places, design.tiers))


def _unnamed(design: Design, timer: Timer, component: Component | None) -> Iterator[Finding]:
    """Yields the question whether a timer ends the thing that it runs from, where its `then` names something else."""
    if component is None or timer.then is None or not _from_its_start(timer, component) or not component.takes:
        return
    if _returns(component, timer) or any(plan.callee == component.name and plan.retries for plan in _plans(design)):
        needs = f"needs whether `{timer.then.text}` ends {component.name}, whose start {timer.name} runs from"
        verb = timer.then.text.partition(" ")[0]
        places = (timer.then.place.labelled(f"`{verb} {component.name}` if it does"), component.place.labelled("this"))
        yield QUESTION.undecided(needs, places, (timer.name, component.name))


def _plans(design: Design) -> tuple[RetryPolicy, ...]:
    return tuple(call_tree(design).plans)


def _returns(component: Component, timer: Timer) -> bool:
    """Decides whether what the timer has ended begins again by itself."""
    again = timer.then is not None and takes_back(timer.then.text)
    return again or (component.returns is not None and component.returns.text != "never")


def _from_its_start(timer: Timer, component: Component) -> bool:
    """Returns whether the timer runs from a start of the work itself.  A grace runs from a drain: there the work is
    over."""
    start = timer.start
    own = start is not None and start.kind == "starts" and start.thing == component.name
    return own and start is not None and not _is_afterwards(component, start.activity)


def _timer(subject: Subject, timer: Timer, component: Component) -> Iterator[Finding]:
    back = tuple(plan for plan in _plans(subject.design) if plan.callee == component.name and plan.retries)
    returns = _returns(component, timer)
    fires = firing(timer)
    if not isinstance(timer.after, Quantity) or fires is None or not (returns or back) or _renewed(subject, timer):
        return
    needed = _needed(timer, component)
    of = (timer.name, component.name, *(plan.name for plan in back))
    if needed is None:
        places = (timer.after.place.labelled("it is ended after this"), component.place.labelled("needs how long?"))
        yield QUESTION.undecided(f"needs takes of {component.name}: the time that one life needs", places, of)
        return
    given = DurationInterval(fires.window.earliest, fires.window.latest)
    answer = _answer(subject, Life(timer, component, given, *needed, () if returns else back), of)
    if timer.renew is not None:
        from coherence.verify.events.renewals import unless_renewed

        answer = unless_renewed(QUESTION, subject.design, timer, answer)
    yield answer


def _renewed(subject: Subject, timer: Timer) -> bool:
    """Returns whether renewals keep a timer from ending what works on, or timer-against-activity asks if they do."""
    if timer.renew is None:
        return False
    from coherence.verify.events.renewals import in_time

    known = in_time(subject.design, timer)
    return known is True or (known is None and timer.unless is not None)


def _working(component: Component) -> list[tuple[str, Quantity]]:
    """Returns the activities that are work of a life."""
    return [(name, q) for name, q in (component.takes or {}).items() if not _is_afterwards(component, name)]


def _is_afterwards(component: Component, activity: str) -> bool:
    """Returns whether an activity saves or winds up a life."""
    return activity in SAVES or role(component, activity) == "drain"


def _perhaps_saves(design: Design, component: Component) -> Iterator[str]:
    """Yields activities that may save the work of a life: apart from it, with an interval, or started by a timer."""
    started = {t.then.activity for t in design.timers.values() if t.then is not None and t.then.kind == "starts"}
    for activity in component.takes or {}:
        what, again = role(component, activity), isinstance(component.constants.get(activity), Quantity)
        if what == "apart" or (what == "" and (again or activity in started)):
            yield activity


def _needed(timer: Timer, component: Component) -> tuple[DurationInterval, DurationInterval] | None:
    """(start-up, work) of one life, from the timer's start event to the end of what it waits for."""
    takes = _working(component)
    first = timer.start.activity if timer.start else ""
    last = timer.unless.activity if timer.unless and timer.unless.thing == component.name else ""
    names = [name for name, _ in takes]
    begin = names.index(first) if first in names else 0
    end = names.index(last) if last in names else len(names) - 1
    chosen = [q for _, q in takes[begin : end + 1]]
    if not chosen:
        return None
    return _total(chosen[:-1]), DurationInterval(chosen[-1].low, chosen[-1].high)


def _total(parts: list[Quantity]) -> DurationInterval:
    return DurationInterval(sum((q.low for q in parts), ZERO), sum((q.high for q in parts), ZERO))


def _answer(subject: Subject, life: Life, of: tuple[str, ...]) -> Finding:
    most, least, given = _high(life.before) + _high(life.work), life.before.low + life.work.low, life.given.low
    numbers: Numbers = {"needed, least": (least, "s"), "needed, most": (most, "s"), "given": (given, "s")}
    if most < given:
        certificate = bounded_sum({"before": _high(life.before), "work": _high(life.work)}, given)
        allowed = f"is given {render_seconds(given)} by {life.timer.name}"
        message = f"{life.component.name} needs {render_seconds(most)} at most and {allowed}"
        return QUESTION.proved(message, _places(life), of, arithmetic(numbers, certificate=certificate))
    checkpointed = _progress(life)
    if checkpointed is not None and checkpointed[0] > 0:
        return _goes_on(life, of, numbers, checkpointed)
    saves = next(_perhaps_saves(subject.design, life.component), "")
    if saves and checkpointed is None:
        keeps = "one that keeps its work is `checkpoint: 15 min` and `takes: {checkpoint: ...}`"
        return QUESTION.undecided(f"needs what {saves} of {life.component.name} is: {keeps}", _places(life), of)
    never = least >= _high(life.given) and _most_progress(life) == 0 and life.timer.renew is None
    return _never(subject, life, of, numbers, certain=never)


def most_lives(timer: Timer, component: Component) -> int | None:
    """Returns in how many lives a thing is done that a timer ends and that keeps its progress; None: any number."""
    fires, needed = firing(timer), _needed(timer, component)
    if fires is None or needed is None or fires.window.latest is None or not _from_its_start(timer, component):
        return None
    life = Life(timer, component, DurationInterval(fires.window.earliest, fires.window.latest), *needed, ())
    if _high(life.before) + _high(life.work) < life.given.low:
        return 1
    checkpointed = _progress(life)
    return int(-(-_high(life.work) // checkpointed[0])) if checkpointed is not None and checkpointed[0] > 0 else None


def _goes_on(life: Life, of: tuple[str, ...], numbers: Numbers, checkpointed: tuple[Fraction, Fraction]) -> Finding:
    progress, cycle = checkpointed
    lives = -(-_high(life.work) // progress)
    each = f"each life of {life.component.name} keeps at least {render_seconds(progress)} of progress"
    certificate = bounded_sum({"before": _high(life.before), "to_a_checkpoint": cycle}, life.given.low, "<=")
    numbers = {**numbers, "progress kept": (progress, "s"), "lives": (lives, "")}
    evidence, assumed = arithmetic(numbers, certificate=certificate), [LAST_CHECKPOINT]
    message = f"{each}: done after {lives} lives at most"
    return QUESTION.proved(message, _places(life), of, evidence, assumptions=assumed)


def _high(span: DurationInterval) -> Fraction:
    return span.high if span.high is not None else span.low


def _progress(life: Life) -> tuple[Fraction, Fraction] | None:
    """(progress that a life surely keeps, time to its first checkpoint); None without checkpoints."""
    every, write = _checkpoint(life.component)
    if every is None:
        return None
    cycle = every.high + (write.high if write else ZERO)
    return ((life.given.low - _high(life.before)) // cycle) * every.low if life.given.low >= _high(
        life.before
    ) else ZERO, cycle


def _most_progress(life: Life) -> Fraction:
    every, write = _checkpoint(life.component)
    if every is None:
        return ZERO
    cycle = every.low + (write.low if write else ZERO)
    return max(ZERO, (_high(life.given) - life.before.low) // cycle * every.high) if cycle else ZERO


def _checkpoint(component: Component) -> tuple[Quantity | None, Quantity | None]:
    every, write = component.constants.get("checkpoint"), (component.takes or {}).get("checkpoint")
    usable = isinstance(every, Quantity) and every.dimension == SECOND and every.low > 0
    return every if usable and isinstance(every, Quantity) else None, write


def _places(life: Life) -> list[Place]:
    name = life.component.name
    takes = [q.place.labelled(f"{name} needs time to {activity}") for activity, q in _working(life.component)]
    places = (
        [life.timer.after.place.labelled(f"{life.timer.name} ends it after this")]
        if isinstance(life.timer.after, Quantity)
        else []
    )
    back = [q.place.labelled("and it is tried again") for plan in life.back for q in plan.call.tries[:1]]
    return [*places, *takes, *back, *_comes_back(life)]


def _comes_back(life: Life) -> list[Place]:
    returns, then = life.component.returns, life.timer.then
    if life.back:
        return []
    if returns is not None:
        return [returns.place.labelled("and it comes back")]
    return [then.place.labelled("and it comes back")] if then is not None else []


def _never(subject: Subject, life: Life, of: tuple[str, ...], numbers: Numbers, *, certain: bool) -> Finding:
    name, given = life.component.name, render_seconds(life.given.low)
    need = render_seconds(numbers["needed, least" if certain else "needed, most"][0])
    tries = max((plan.tries or 0 for plan in life.back), default=0)
    bounded = bool(life.back) and all(plan.tries is not None for plan in life.back)
    again = f"all {tries} tries end so" if bounded else "it comes back and is ended again, for ever"
    unless = "" if _checkpoint(life.component)[0] is None else " (no checkpoint is reached before)"
    needs = f"it {'needs' if certain else 'may need'} {need}{unless}"
    message = f"{life.timer.name} ends {name} after {given}, but {needs}: {again}, without progress"
    evidence = arithmetic(numbers, witness=_witness(life, lives=min(3, tries) if bounded else 3))
    shorter = _repairs(subject, life, Fraction(numbers["needed, most"][0]))
    return QUESTION.conflict(message, _places(life), of, evidence, certain=certain, repairs=shorter)


def _witness(life: Life, *, lives: int) -> Iterator[Step]:
    given = life.given.low
    for number in range(lives):
        yield Step(number * given, f"life {number + 1} of {life.component.name} starts from the beginning")
        yield Step((number + 1) * given, f"{life.timer.name} ends it, unfinished")


def _repairs(subject: Subject, life: Life, most: Fraction) -> tuple[Repair, ...]:
    """More time, or a checkpoint that fits a life."""
    after, every = life.timer.after, _checkpoint(life.component)[0]
    room = life.given.low - _high(life.before)
    sooner = repairs.proposal(repairs.change(subject, every, room / 4)) if every is not None and room > 0 else None
    return offered(longer(subject, after.place, most) if isinstance(after, Quantity) else None, sooner)
