"""shutdown-vs-retry: what a policy ends and another policy starts again gets done in between.

## What
A timer ends a job after a fixed time, and the job comes back: it `returns`, the timer puts it back into the queue
(`then: requeue job`), or its caller tries again. If the job needs longer than the timer allows and keeps no progress,
every life ends like the one before. A job that writes a checkpoint keeps what it had reached: `checkpoint: 10 min` on
the component is how often, `takes: {checkpoint: 30 s}` how long the writing takes; then each life must be long enough
for at least one, and so many lives as it needs must be allowed by the `tries` of its caller.

A loop that evicts, or a timer with a clock of its own, ends lives as well: of what is over when its work is done, and
comes back, the life from one end to the next is held against what it needs.  Where several things end it, a proof
counts all of them, at their worst phases; what ends it at a pace that nobody says is named as an assumption.
Beside failures that the design states (`mtbf` of the thing, or of what it runs on) a proof holds with probability 1,
and says which share of the lives is left long enough; where that is fewer than one in 10,000, or its caller gives it
up, the answer is open.

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
from dataclasses import replace
from fractions import Fraction

from coherence.base.number_text import render_seconds
from coherence.base.places import Place
from coherence.findings import repairs
from coherence.findings.finding import Finding, Repair, Step, Verdict
from coherence.findings.question_input import Question, Subject, arithmetic
from coherence.language.design import Component, Design, Timer
from coherence.language.entries.actions import takes_back
from coherence.language.schema_kinds import Quantity
from coherence.verify.calls.attempts import ZERO, DurationInterval
from coherence.verify.calls.call_graph import call_tree
from coherence.verify.calls.claims import Numbers, bounded_sum
from coherence.verify.calls.repairs import longer, offered
from coherence.verify.calls.retry_policies import RetryPolicy
from coherence.verify.events.forestalling import never_fires
from coherence.verify.facts.design_facts import DesignFacts, known
from coherence.verify.patterns.calls._lives import (
    Life,
    checkpoint,
    from_its_start,
    lifted_elsewhere,
    needed,
    of_recurrence,
    other_ends,
    perhaps_saves,
    upper,
    working,
)
from coherence.verify.timers.firing import ended_by, firing
from coherence.verify.timers.firing import lease as lease_of
from coherence.verify.timers.removals import ENDS_NONE

QUESTION = Question("COH218", "shutdown-vs-retry", "ai.04 runtime control coherence")
QUESTIONS = (QUESTION,)
NOT_LIFTED = "'{}' does not come before {} fires"
LAST_CHECKPOINT = "a life goes on where the last checkpoint was written"


def ask(subject: Subject) -> Iterator[Finding]:
    """Yields every timer that ends a thing which comes back, and every other cause that ends it again and again."""
    design = subject.design
    for timer in design.timers.values():
        ended = ended_by(timer)
        component = design.components.get(ended)
        if component is not None and never_fires(design, timer):
            continue  # COH213 says that it never fires
        if component is not None and from_its_start(timer, component):
            yield from _timer(subject, timer, component)
        elif ended and not _is_declared(design, ended) and timer.unless is None and timer.start is not None:
            yield from _unnamed(design, timer, design.components.get(timer.start.thing))
    yield from _by_clocks(subject)


def _by_clocks(subject: Subject) -> Iterator[Finding]:
    """Yields what comes of the lives between ends that come by clocks of their own."""
    from coherence.verify.timers.recurrences import comes_back, is_over, recurrences

    lasting = [c for c in subject.design.components.values() if comes_back(c) and is_over(c)]
    if not lasting or not (subject.design.loops or subject.design.timers):
        return
    facts = known(subject)
    for component in lasting:
        for cause in recurrences(facts, component.name):
            life = of_recurrence(facts, cause, component)
            if life is not None:
                yield _answer(subject, facts, life, (cause.name, component.name))


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
    if component is None or timer.then is None or not from_its_start(timer, component) or not component.takes:
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


def _timer(subject: Subject, timer: Timer, component: Component) -> Iterator[Finding]:
    back = tuple(plan for plan in _plans(subject.design) if plan.callee == component.name and plan.retries)
    returns = _returns(component, timer)
    fires = firing(timer)
    if not isinstance(timer.after, Quantity) or fires is None or not (returns or back) or _renewed(subject, timer):
        return
    need = needed(timer, component)
    of = (timer.name, component.name, *(plan.name for plan in back))
    if need is None:
        places = (timer.after.place.labelled("it is ended after this"), component.place.labelled("needs how long?"))
        yield QUESTION.undecided(f"needs takes of {component.name}: the time that one life needs", places, of)
        return
    given = DurationInterval(fires.window.earliest, fires.window.latest)
    life = Life(
        timer.name, timer.after, component, given, *need, () if returns else back,
        _comes_back(component, timer, () if returns else back), renewed=timer.renew is not None,
        lifted=lifted_elsewhere(timer, component),
    )  # fmt: skip
    answer = _answer(subject, known(subject), life, of)
    if timer.renew is not None:
        from coherence.verify.events.renewals import unless_renewed

        answer = unless_renewed(QUESTION, subject.design, timer, answer)
    yield answer


def _comes_back(component: Component, timer: Timer, back: tuple[RetryPolicy, ...]) -> tuple[Place, ...]:
    returns, then = component.returns, timer.then
    if back:
        return tuple(q.place.labelled("and it is tried again") for plan in back for q in plan.call.tries[:1])
    if returns is not None:
        return (returns.place.labelled("and it comes back"),)
    return (then.place.labelled("and it comes back"),) if then is not None else ()


def _renewed(subject: Subject, timer: Timer) -> bool:
    """Returns whether renewals keep a timer from ending what works on, or timer-against-activity asks if they do."""
    if timer.renew is None:
        return False
    from coherence.verify.events.renewals import in_time

    in_due_time = in_time(subject.design, timer)
    return in_due_time is True or (in_due_time is None and timer.unless is not None)


def _answer(subject: Subject, facts: DesignFacts, life: Life, of: tuple[str, ...]) -> Finding:
    """Returns what comes of the lives of a thing: a proof where all that ends it leaves it time enough."""
    alone = _alone(subject, life, of)
    if alone.verdict is Verdict.CONFLICT and life.apart is not None:
        return _ended_while_away(subject, facts, life, alone)
    if alone.verdict is not Verdict.PROVED:
        return alone
    others = other_ends(facts, life)
    assumed = (*alone.assumptions, *(ENDS_NONE.format(name, life.component.name) for name in others.unpaced))
    if others.failures:
        from coherence.verify.patterns.calls._failing_lives import beside_failures

        return beside_failures(QUESTION, life, replace(alone, assumptions=assumed), others)
    if not others.paced:
        return replace(alone, assumptions=assumed)
    places = (*alone.places, *(one.place for one in others.paced))
    names = (*of, *(one.name for one in others.paced))
    shorter = others.shortened(life)
    together = _alone(subject, shorter, of) if shorter is not None else None
    if shorter is None or together is None or together.verdict is not Verdict.PROVED or shorter.tries is not None:
        needs = f"how often {others.names} ends {life.component.name} too is not followed: alone {alone.message}"
        return QUESTION.undecided(needs, places, names)
    message = f"{together.message}, of those that {others.names} leaves so long"
    return replace(together, message=message, places=places, of=tuple(dict.fromkeys(names)), assumptions=assumed)


def _ended_while_away(subject: Subject, facts: DesignFacts, life: Life, alone: Finding) -> Finding:
    """Returns a conflict, or an open answer where other ends may keep the thing away when its own one comes."""
    others = other_ends(facts, life)
    if life.apart is None or life.given.low == life.apart or not (others.paced or others.unpaced):
        return alone
    whole = replace(life, given=replace(life.given, low=life.apart))
    if _alone(subject, whole, alone.of).verdict is Verdict.CONFLICT:
        return alone
    names = " and ".join((*(one.name for one in others.paced), *others.unpaced))
    away = f"whether {life.component.name} is away by {names} when {life.ender} ends it is not followed"
    return QUESTION.undecided(f"{away}: else {alone.message}", alone.places, alone.of)


def _alone(subject: Subject, life: Life, of: tuple[str, ...]) -> Finding:
    """Returns what comes of the lives of a thing that nothing else ends."""
    most, least, given = life.longest_need, life.before.low + life.work.low, life.given.low
    numbers: Numbers = {"needed, least": (least, "s"), "needed, most": (most, "s"), "given": (given, "s")}
    if most < given:
        writes = most - upper(life.before) - upper(life.work)
        parts = {"before": upper(life.before), "work": upper(life.work)} | ({"checkpoints": writes} if writes else {})
        certificate = bounded_sum(parts, given)
        allowed = f"is given {render_seconds(given)} by {life.ender}"
        message = f"{life.component.name} needs {render_seconds(most)} at most and {allowed}"
        return QUESTION.proved(message, _places(life), of, arithmetic(numbers, certificate=certificate))
    progress = life.progress()
    if progress:
        return _goes_on(subject, life, of, numbers, progress)
    saves = next(perhaps_saves(subject.design, life.component), "")
    if saves and progress is None:
        keeps = "one that keeps its work is `checkpoint: 15 min` and `takes: {checkpoint: ...}`"
        return QUESTION.undecided(f"needs what {saves} of {life.component.name} is: {keeps}", _places(life), of)
    if life.given.high is None and life.apart is not None:
        needs = f"needs how soon {life.ender} ends {life.component.name} again: it needs {render_seconds(most)}"
        return QUESTION.undecided(f"{needs}, and {render_seconds(given)} may be all", _places(life), of)
    never = least >= upper(life.given) and life.most_progress() == 0 and not _may_begin(subject, life)
    return _never(subject, life, of, numbers, certain=never)


def _may_begin(subject: Subject, life: Life) -> bool:
    """Decides whether the first end may come after a whole life: by a late loop, a timer from another event."""
    loop = subject.design.loops.get(life.ender)
    late = loop is not None and loop.timescale is not None and loop.timescale.phase is not None
    return late or (life.ender in subject.design.timers and life.apart is not None)


def _goes_on(subject: Subject, life: Life, of: tuple[str, ...], numbers: Numbers, progress: Fraction) -> Finding:
    """Returns what comes of a thing that keeps its progress: it is done after some lives, if it has so many."""
    every, write = checkpoint(life.component)
    cycle = (every.high if every is not None else ZERO) + (write.high if write else ZERO)
    lives, tries = life.most_lives() or 0, life.tries
    each = f"each life of {life.component.name} keeps at least {render_seconds(progress)} of progress"
    numbers = {**numbers, "progress kept": (progress, "s"), "lives": (lives, "")}
    if tries is not None and tries < lives:
        slowest, fewest = life.slowest_run(), life.fewest_lives()
        if slowest is not None and slowest <= tries:
            needs = f"needs how long the work of each life is: {each}, and {tries} tries may be too few"
            return QUESTION.undecided(needs, _places(life), of)
        numbers = {**numbers, "tries": (tries, "")}
        return _never(subject, life, of, numbers, certain=fewest is None or fewest > tries)
    certificate = bounded_sum({"before": upper(life.before), "to_a_checkpoint": cycle}, life.given.low)
    evidence, assumed = arithmetic(numbers, certificate=certificate), [LAST_CHECKPOINT]
    message = f"{each}: done after {lives} lives at most"
    return QUESTION.proved(message, _places(life), of, evidence, assumptions=assumed)


def _places(life: Life) -> list[Place]:
    name = life.component.name
    takes = [q.place.labelled(f"{name} needs time to {activity}") for activity, q in working(life.component)]
    return [life.stated.place.labelled(f"{life.ender} ends it after this"), *takes, *life.comes_back]


def _never(subject: Subject, life: Life, of: tuple[str, ...], numbers: Numbers, *, certain: bool) -> Finding:
    name, given, tries = life.component.name, render_seconds(life.given.low), life.tries
    need = render_seconds(numbers["needed, least" if certain else "needed, most"][0])
    again = f"all {tries} tries end so" if tries is not None else "it comes back and is ended again, for ever"
    every, progress = checkpoint(life.component)[0], life.progress()
    unless = "" if every is None or progress else " (no checkpoint is reached before)"
    needs = f"it {'needs' if certain else 'may need'} {need}{unless}"
    message = f"{life.ender} ends {name} after {given}, but {needs}: {again}, without progress"
    if progress:
        message = f"{life.ender} ends {name} after {given}, but {needs}, and keeps {render_seconds(progress)}: {again}"
    evidence = arithmetic(numbers, witness=_witness(life, lives=min(3, tries) if tries is not None else 3))
    shorter = _repairs(subject, life, Fraction(numbers["needed, most"][0]))
    certain = certain and not life.renewed and not life.lifted
    assumed = (NOT_LIFTED.format(life.lifted, life.ender),) if life.lifted else ()
    return QUESTION.conflict(
        message, _places(life), of, evidence, certain=certain, assumptions=assumed, repairs=shorter
    )  # fmt: skip


def _witness(life: Life, *, lives: int) -> Iterator[Step]:
    given, progress = life.given.low, life.progress() or ZERO
    for number in range(lives):
        begins = f"with {render_seconds(number * progress)} done" if progress and number else "from the beginning"
        yield Step(number * given, f"life {number + 1} of {life.component.name} starts {begins}")
        yield Step((number + 1) * given, f"{life.ender} ends it, unfinished")


def _repairs(subject: Subject, life: Life, most: Fraction) -> tuple[Repair, ...]:
    """Returns more time, or a checkpoint that fits a life."""
    every = checkpoint(life.component)[0]
    room = life.given.low - upper(life.before)
    sooner = repairs.proposal(repairs.change(subject, every, room / 4)) if every is not None and room > 0 else None
    return offered(longer(subject, life.stated.place, most), sooner)
