"""timer against activity: a lease, watchdog, deadline or grace must outlast what it waits for.

## What
A timer `{from: worker.task starts, after: D, unless: worker.task ends, then: ...}` fires in a healthy
run when the task may last longer than D.  The task must end strictly before: at equality the two
race.  Activities of one member that lie between `from` and `unless` run one after another in the
order of `takes`, and their times add up (cold start and first byte; hooks and drain inside a grace).
Another timer that ends the activity in every run (`then: worker.task ends`) ends the waiting too.

- A *lease* (`then: redeliver`, `requeue`, ...) hands the message out ceil(D_task / D_lease) times in
  all, at most `max_receive` where the component states it.
- With `renew:` (an interval, a timer that repeats, or an activity that one starts) the interval is compared with the
  lease, not the task; so it is of a lease without `unless`, which nothing but its renewals keeps from firing.
- A *barrier* (`from: first rank waits`, `unless: all of rank.step end`) waits for the slowest member
  less the fastest; an activity that a loop sets (`rank.pause`) comes on top for the slowest, once a step.
- A timer that only tells (`alert`, `log`, `warn`, ...) ends nothing.
- One that ends what it counts from, by way of other timers or not, without `unless` (`{from: job starts, after: 1 h,
  then: kill job}`) is held against the work that it ends; where the thing does not state one, against its start.  So is
  one that ends a thing against what another timer starts of it, once, after the same event: a checkpoint at a notice.
- A grace (`{from: worker.drain starts, after: 30 s, then: kill worker}`) of a thing that states no drain and that
  nobody calls is held against the work that may have just begun when it drains.
- A timer that another one always forestalls (`dead-policy`) never fires.

## Why it hurts
The timer was set for a typical time and the slow runs are the ones that matter: the message is
worked on twice, the node is taken away during the write, the job dies waiting for one slow member.

## Example
```yaml
coherence: 1
components: {worker: {takes: {task: 30 s .. 300 s}}}
timers:
  lease: {from: worker.task starts, after: 30 s, unless: worker.task ends, then: redeliver}
```

## Instead
A lease beyond the longest task, or one that the worker extends:
```yaml
coherence: 1
components: {worker: {takes: {task: 30 s .. 300 s}}}
timers:
  lease: {from: worker.task starts, after: 30 s, renew: 10 s, unless: worker.task ends, then: redeliver}
```

## Source
Amazon SQS developer guide, visibility timeout; Kubernetes pod termination (grace includes preStop);
PyTorch ProcessGroupNCCL watchdog.  Incidents: dimagi/open-chat-studio#4084, kserve/kserve#1247,
JIA-Lab-research/LongLoRA#45, aws/karpenter-provider-aws#2813, deckhouse/deckhouse#1746.
"""

from __future__ import annotations

from collections.abc import Iterator

from coherence.findings.finding import Finding, Repair
from coherence.findings.question_input import Question, Subject
from coherence.language.design import Design, Timer
from coherence.language.entries.actions import acted_on, is_harmless, takes_back
from coherence.language.schema_kinds import Quantity
from coherence.verify.patterns.timers import _overrun
from coherence.verify.patterns.timers._overrun import Figures, OverrunCase
from coherence.verify.patterns.timers._refuted import refuting_firing
from coherence.verify.patterns.timers.start_budget import is_probe
from coherence.verify.timers import firing
from coherence.verify.timers.firing import LEASES

QUESTION = Question(
    "COH207", "timer-against-activity", "ai.04 runtime control coherence", regardless=frozenset({"end"})
)
QUESTIONS = (QUESTION,)


def ask(subject: Subject) -> Iterator[Finding]:
    """Yields one answer per timer that another event may end, probes apart."""
    if any(t.renew is not None and t.unless is None for t in subject.design.timers.values()):
        from coherence.verify.patterns.timers import _renewal

        yield from _renewal.never_ended(subject, QUESTION)
    ended = [t for t in subject.design.timers.values() if _overrun.may_be_ended(t) and not is_probe(t)]
    if at_barriers := list(filter(_at_barrier, ended)):
        from coherence.verify.patterns.timers import _barrier

        yield from (_barrier.answer(subject, QUESTION, timer) for timer in at_barriers)
    if len(at_barriers) < len(ended):
        for case in _overrun.cases(subject.design):
            if not is_probe(case.timer) and not _at_barrier(case.timer):
                yield refuting_firing(subject.design, case.timer, _answer(subject, case))
    if any(timer.unless is None for timer in subject.design.timers.values()):
        from coherence.verify.patterns.timers import _unconditional

        for case in _unconditional.cases(subject.design):
            yield refuting_firing(subject.design, case.timer, _answer(subject, case))


def _at_barrier(timer: Timer) -> bool:
    return timer.start is not None and timer.start.kind == "waits"


def _answer(subject: Subject, case: OverrunCase) -> Finding:
    timer = case.timer
    in_its_own_time = not case.order.first or case.order.first[0].kind == "activity"
    if case.relation == "before" and in_its_own_time:
        return _overrun.proved(QUESTION, case)
    if dead := _overrun.forestalled(QUESTION, subject.design, case):
        return dead
    if case.relation == "before":
        return _overrun.proved(QUESTION, case)
    if timer.then is not None and is_harmless(timer.then.text):
        from coherence.verify.patterns.timers import _only_member

        return _only_member.answer(subject, QUESTION, case) or _overrun.harmless(QUESTION, case)
    if timer.renew is not None:
        from coherence.verify.patterns.timers import _renewal

        return _renewal.answer(subject, QUESTION, timer, outlasts=case.relation == "after")
    if case.relation == "unknown":
        return _overrun.undecided(QUESTION, case)
    repairs: tuple[Repair, ...] = tuple(_overrun.raised(subject, case))
    figures, words = _handed_out(subject.design, case)
    return _overrun.conflict(QUESTION, case, repairs=repairs, figures=figures, consequence=words)


def _verb(timer: Timer) -> str:
    return timer.then.text.split(" ")[0] if timer.then is not None else ""


def _handed_out(design: Design, case: OverrunCase) -> tuple[Figures, str]:
    """For a lease: how many times one message is handed out in all, while its first holder works on."""
    held, lease = case.order.windows
    if _verb(case.timer) not in LEASES or held.latest is None or lease.latest is None:
        return {}, ""
    most = _most(design, case)
    then = case.timer.then.text if case.timer.then is not None else ""
    if takes_back(then):
        return {}, _begun_again(case, most)
    few = firing.copies(held.earliest, lease.latest, most)
    many = firing.copies(held.latest, lease.earliest, most)
    if most is None or most > 1:
        many = max(many, 2)  # it may fire: at held = lease the expiry races with the acknowledgement
    span = str(many) if few == many else f"{few} to {many}"
    figures: Figures = {"copies at least": (few, ""), "copies at most": (many, "")}
    return figures, f"; one {acted_on(then) or 'message'} is handed out {span} times"


def _begun_again(case: OverrunCase, most: int | None) -> str:
    """Says what becomes of work that is taken from its holder: the next try ends as the one before it."""
    tries = f"{most} times in all" if most is not None else "again and again, without end"
    return (
        f"; every try ends so, and it is begun {tries}"
        if case.relation == "after"
        else "; a try that ends so is begun again"
    )


def _most(design: Design, case: OverrunCase) -> int | None:
    unless = case.timer.unless
    component = design.components.get(unless.thing) if unless is not None else None
    stated = component.constants.get("max_receive") if component is not None else None
    return int(stated.high) if isinstance(stated, Quantity) else None
