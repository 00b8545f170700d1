"""overlapping periods: an activity that is started again before it is over.

## What
A timer `every: T` (or one that fires `after: T` from its own last firing, from the start of the activity, or through
other timers from itself) that starts an activity, against the longest time that the activity takes; `jitter` moves a
start so far, early or late. Where it may last longer than the shortest time between two starts, the next start comes
while the last one still runs: in every run where it always does, in some where it may. Two timers that start one
activity are held against each other where one event leads to both, or both are clocks, whose phases nothing states. A
clock begins anew with what it counts from, and with what renews it. Equality touches: a stated worst case against a
clock (a warning). A timer that counts misses, or waits for the end of the activity (`from: ... ends`), starts nothing
twice.

## Why it hurts
Two saves write at once, or a save is skipped and nobody says so; a job that is due every five minutes and takes seven
holds more workers each hour.

## Example
```yaml
coherence: 1
components: {rank: {takes: {checkpoint: 5 min .. 20 min}}}
timers: {save: {uses: checkpoint, from: job starts, every: 15 min, then: rank.checkpoint starts}}
```

## Instead
```yaml
coherence: 1
components: {rank: {takes: {checkpoint: 5 min .. 20 min}}}
timers: {save: {uses: checkpoint, from: job starts, every: 30 min, then: rank.checkpoint starts}}
```

## Source
Young, Communications of the ACM 17 (1974) 530: the interval between checkpoints against the time to save.  Kubernetes
documentation, CronJob: concurrencyPolicy Allow is the default.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from coherence.base.number_text import render_seconds
from coherence.findings import repairs
from coherence.findings.finding import Finding, Repair, Step
from coherence.findings.question_input import Certificate, Question, Subject, arithmetic, rational
from coherence.language.design import Design, Timer
from coherence.language.entries.actions import ORDERLY
from coherence.language.roles import in_role, things
from coherence.language.schema_kinds import Quantity
from coherence.verify.events.graph import EventLink, key_of, lasting, values
from coherence.verify.events.orders import between
from coherence.verify.patterns.writers._pair import Numbers
from coherence.verify.timers import firing
from coherence.verify.timers.firing import FiringWindow

QUESTION = Question("COH246", "overlapping-periods", "ai.04 runtime control coherence", regardless=frozenset({"end"}))
QUESTIONS = (QUESTION,)


def ask(subject: Subject) -> Iterator[Finding]:
    """Yields one answer per repeating timer that starts an activity whose time is stated, and each pair that meets."""
    from coherence.verify.patterns.timers._begun_twice import begun_by, begun_twice

    if len(subject.design.timers) > 1:
        yield from begun_twice(QUESTION, subject)
    for timer in subject.design.timers.values():
        then = timer.then
        if then is None or then.kind != "starts" or timer.unless is not None:
            continue
        activity = begun_by(subject.design, then)
        component = things(subject.design).get(then.thing)
        if component is None or not activity:
            continue
        from coherence.verify.events.periods import periods

        over = _over(subject.design, f"{then.thing}.{activity}")
        apart = list(periods(subject.design, timer, without=over, starts=then.thing))
        if not apart:
            continue
        shortest = min(apart, key=lambda period: period.earliest)
        takes = (component.takes or {}).get(activity)
        if takes is None:
            needs = f"needs {activity} time of {then.thing}: {timer.name} starts it every {_written(timer, shortest)}"
            stated = values(timer)[0].labelled("started this often")
            places = (stated, then.place.labelled("for a time that is not stated"))
            yield QUESTION.undecided(needs, places, (timer.name, then.thing), lacks_number=True)
        else:
            yield _answer(subject, timer, shortest, takes, lasting(subject.design, f"{then.thing}.{activity}"))


def _over(design: Design, name: str) -> frozenset[str]:
    """Returns the events with which an activity is over: its end, and what ends its thing or itself at once."""
    thing, ending = name.partition(".")[0], list[str]()
    component = things(design).get(thing)
    drains = component is not None and bool(in_role(component, "drain"))
    for timer in design.timers.values():
        verb = timer.then.text.partition(" ")[0] if timer.then is not None else ""
        waits = verb == "evict" or (drains and verb in ORDERLY)
        if firing.ended_by(timer) in (thing, name) and firing.action_of(timer) == "ends" and not waits:
            ending.append(f"{timer.name} fires")
    return frozenset((f"{name} ends", *ending))


def _every(timer: Timer) -> Quantity | None:
    stated = timer.every if timer.every is not None else timer.after
    return stated if isinstance(stated, Quantity) else None


def _written(timer: Timer, apart: FiringWindow) -> str:
    """Returns the time between two starts as it is written, or where it stands in no one value."""
    every = _every(timer)
    own = every is not None and (apart.earliest, apart.latest) in ((every.low, every.high), (every.low, None))
    return str(every) if own else between(apart)


def _answer(subject: Subject, timer: Timer, apart: FiringWindow, takes: Quantity, lasts: EventLink) -> Finding:
    from coherence.verify.events.periods import brought_by

    assert timer.then is not None
    shortest, every = apart.earliest, _written(timer, apart)
    longest, known = lasts.window.latest, lasts.reached.latest or takes.high
    span = between(lasts.window) if lasts.inside else str(takes)
    numbers: Numbers = {"starts apart, least": (shortest, "s"), "takes at most": (known, "s")}
    stated = _every(timer)
    places = (
        (stated.place if stated is not None else timer.place).labelled("started this often"),
        takes.place.labelled(f"{lasts.name} takes this long"),
    )
    of, name = (timer.name, timer.then.thing, *lasts.inside, *brought_by(subject.design, timer)), lasts.name
    if longest is not None and longest <= shortest:
        script = Certificate(claim=f"(<= {rational(longest)} {rational(shortest)})").script()
        message = f"{name} is over before {timer.name} starts it again: {span} of {every}"
        evidence = arithmetic(numbers, certificate=script)
        needs, apiece = _each_starts_it(subject, timer, name)
        if needs:
            return QUESTION.undecided(f"{needs}: {message}", places, of)
        assumed = (*apiece, *_left_out(subject, timer, longest), *lasts.assumptions)
        return QUESTION.proved(message, places, of, evidence, margin=longest < shortest, assumptions=assumed)
    missing = lasts.missing if known <= shortest else _goes_on(subject, timer, name, known)
    if missing:
        return QUESTION.undecided(f"needs {missing}: {timer.name} starts {name} every {every}", places, of)
    span = between(lasts.reached) if lasts.inside else str(takes)
    certain = apart.latest is not None and lasts.reached.earliest > apart.latest
    verb = "takes" if certain else "may take"
    message = f"{timer.name} starts {name} every {every}, and it {verb} {span}: two run at once"
    witness = (
        Step(Fraction(0), f"{timer.name} starts {name}"),
        Step(shortest, f"{timer.name} starts {name} again"),
        Step(known, f"the first one is over, {render_seconds(known - shortest)} late"),
    )
    return QUESTION.conflict(
        message, places, of, arithmetic(numbers, witness=witness), certain=certain,
        assumptions=(f"{timer.name} does not wait for {name} to end", *lasts.assumptions),
        repairs=_repairs(subject, stated, (longest or known) + (stated.low - shortest if stated is not None else 0)),
    )  # fmt: skip


def _goes_on(subject: Subject, timer: Timer, name: str, known: Fraction) -> str:
    """Returns what is open where each member starts one of its own, and two would run at once over the end of a life of
    the member alone: whether the first goes on then.
    """
    from coherence.verify.events.periods import periods

    in_one_life = periods(subject.design, timer, without=_over(subject.design, name))
    over_a_life = all(known <= period.earliest for period in in_one_life)
    question = f"whether {name} ends with the member that starts it (one of its own activities does)"
    return question if over_a_life and _each_starts_it(subject, timer, name)[1] else ""


def _left_out(subject: Subject, timer: Timer, longest: Fraction) -> Iterator[str]:
    """Yields what the proof takes for granted: nothing starts the activity beside, and, where nothing says whether it
    does, what the timer counts from does not come back.
    """
    from coherence.verify.events.clock_lives import unsaid_return

    thing, fires = unsaid_return(subject.design, timer), firing.firing(timer)
    late = fires is not None and longest <= fires.window.earliest
    if thing and not late and timer.then is not None and timer.then.thing != thing:
        yield f"{thing} does not come back where it has ended (`returns`)"
    yield from _started_beside(subject, timer)


def _each_starts_it(subject: Subject, timer: Timer, name: str) -> tuple[str, tuple[str, ...]]:
    """Returns what is open, and what is assumed, where each of several members of one thing starts an activity of
    another: that each has its own, where there are as many.
    """
    from coherence.verify.events.firing_gaps import owner
    from coherence.verify.facts.design_facts import copies, known

    assert timer.then is not None
    thing, sure = owner(subject.design, timer)
    if not sure or thing == timer.then.thing or thing not in subject.design.components:
        return "", ()
    members, theirs = (copies(known(subject), of) for of in (thing, timer.then.thing))
    several = timer.per is not None if members is None else members.high is None or members.high > 1
    if (
        several
        and members is not None
        and theirs is not None
        and (members.low, members.high) == (theirs.low, theirs.high)
    ):
        return "", (f"each of {thing} starts a {name} of its own",)
    return (
        f"needs whether each of several {thing} starts a {name} of its own (as many `copies`)" if several else ""
    ), ()


def _started_beside(subject: Subject, timer: Timer) -> Iterator[str]:
    """Yields what the proof leaves out: other timers that start the activity, at times of their own, or what the timer
    itself runs from.
    """
    from coherence.verify.events.periods import begun_beside
    from coherence.verify.patterns.timers._begun_twice import starts_apart

    then, start, ordered = timer.then, timer.start, subject.design.timers.values()
    assert then is not None
    same = key_of(then, subject.design)
    starting = [other.name for other in ordered if other.then and key_of(other.then, subject.design) == same]
    beside = [name for name in starting if name != timer.name]
    compared = [name for name in beside if starts_apart(subject.design, timer, subject.design.timers[name]) is not None]
    yield from (
        f"{name} starts {then.subject} too: what it starts is not compared" for name in beside if name not in compared
    )
    for name in begun_beside(subject.design, timer) if start is not None else ():
        if name not in beside:
            yield f"{name} brings no '{start.text if start is not None else ''}' between two of its rounds"


def _repairs(subject: Subject, every: Quantity | None, need: Fraction) -> Iterator[Repair]:
    longer = repairs.upward_round(need * Fraction(11, 10))
    edit = repairs.proposal(repairs.change(subject, every, longer)) if every is not None else None
    yield from [edit] if edit is not None else []
