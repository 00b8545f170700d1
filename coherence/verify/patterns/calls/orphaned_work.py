"""orphaned-work: nobody works for a caller that has gone.

## What
A caller waits `per_try` (or its deadline) for a callee, and the callee may need longer: for its own answer, for
its calls, for their retries. With `on_timeout: abandon` the callee goes on after the caller has left, and each
retry of the caller starts another copy beside it. A later try that a deadline of all tries ends is left behind as
well, however short the work. With `cancel` the work ends with the try, and a proof takes for granted that it ends what
it waits for too. A proof counts no wait for a free member. Without `on_timeout`
the question stays open wherever the times alone do not settle it.

## Why it hurts
Capacity goes into answers that nobody reads, most of all when the system is slow already; what the work changes
is changed once per copy.

## Example
```yaml
coherence: 1
calls:
  - {from: web, to: api, per_try: 1 s, tries: 2, on_timeout: abandon}
  - {from: api, to: db, deadline: 5 s}
```

## Instead
```yaml
coherence: 1
calls:
  - {from: web, to: api, per_try: 6 s, tries: 2, on_timeout: abandon}
  - {from: api, to: db, deadline: 5 s}
```

## Source
boto/boto3 issue 883: a function ran four times because the read timeout was shorter than the function. B. Beyer et
al., "Site Reliability Engineering", O'Reilly 2016, chapter 22: deadlines shrink down the call tree and cancellation
travels along.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction

from coherence.base.number_text import render_seconds
from coherence.base.places import Place
from coherence.findings import repairs
from coherence.findings.finding import Edit, Finding, Repair, Step
from coherence.findings.question_input import Question, Subject, arithmetic
from coherence.language.roles import time_of
from coherence.language.schema_kinds import Quantity
from coherence.verify.calls.attempts import ZERO, RetrySchedule, last_start, least, start, started, timeline
from coherence.verify.calls.call_graph import (
    CANCELS,
    NO_WAIT,
    CallTree,
    Enclosure,
    Work,
    call_tree,
    enclosure_of,
    in_turn,
    open_time,
    own_times,
)
from coherence.verify.calls.claims import Numbers, bounded_sum, term_fits
from coherence.verify.calls.repairs import longer, offered, shorter
from coherence.verify.calls.retry_policies import FailureCause, RetryPolicy, copies_of_try
from coherence.verify.patterns.calls._serving_time import first_byte_of

QUESTION = Question("COH204", "orphaned-work", "ai.04 runtime control coherence")
QUESTIONS = (QUESTION,)


def ask(subject: Subject) -> Iterator[Finding]:
    """Yields each call whose callee has stated work, against the time that the caller waits."""
    tree = call_tree(subject.design)
    for plan in tree.plans:
        work, around = tree.work[plan.callee], enclosure_of(plan)
        works = work.serve or work.calls or work.retrying or work.answer.stated
        if around is not None and works and not tree.on_cycle(plan):
            silent = tuple(name for name in work.answer.silent if name in tree.of_caller)
            yield from _answer(subject, tree, Left(plan, work, around, silent, _cut_above(tree, plan)))


def _cut_above(tree: CallTree, plan: RetryPolicy) -> tuple[str, ...]:
    """Returns the things above a call that a cancelled try may end while they still wait for it."""
    if not plan.call.abandons:
        return ()
    ends = [up for up in tree.above([plan.caller]) if up.limit is not None and not up.call.abandons]
    works = ((up, tree.work[up.callee].behind.high) for up in ends)
    late = (up.callee for up, longest in works if up.limit is None or longest is None or longest > up.limit.low)
    return tuple(dict.fromkeys(late))


@dataclass(frozen=True)
class Left:
    """A call, the work that it may leave behind, and when."""

    plan: RetryPolicy
    work: Work
    around: Enclosure
    silent: tuple[str, ...] = ()  # what calls on without saying how long it works itself
    cut: tuple[str, ...] = ()  # what a call above may cancel meanwhile

    @property
    def limit(self) -> Fraction:
        return self.around.limit.low

    @property
    def callee(self) -> str:
        return self.plan.callee

    @property
    def of(self) -> tuple[str, ...]:
        inside = (*self.work.calls, *self.work.through)
        return (self.plan.name, self.callee, *(inner.name for inner in inside))

    @property
    def numbers(self) -> Numbers:
        return {"work at worst": (self.work.behind.low, "s"), "the caller waits": (self.limit, "s")}

    @property
    def in_turn(self) -> list[str]:
        return in_turn(self.work, self.callee)


def _answer(subject: Subject, tree: CallTree, left: Left) -> Iterator[Finding]:
    plan, work, limit = left.plan, left.work, left.limit
    on_timeout = plan.call.on_timeout.text if plan.call.on_timeout else ""
    late = work.behind.low >= limit if work.calls or work.retrying else work.behind.low > limit
    first = _first_byte(subject, left)
    if first is not None and (first.high <= limit or not late):
        return
    if late and on_timeout == "cancel":
        yield _cancelled(left)
    elif late and plan.streams and first is None:
        stated = time_of(subject.design.components.get(left.callee), "first byte") is not None
        needs = f"needs {first_byte_of(plan, ends_waits=not stated)}: {plan.name} may wait longer"
        yield QUESTION.undecided(needs, _places(left), left.of)
    elif late and on_timeout == "abandon":
        yield _orphan(subject, left)
    elif late:
        need = f"{left.callee} may need {render_seconds(work.behind.low)}, the caller waits {render_seconds(limit)}"
        yield QUESTION.undecided(f"needs on_timeout of {plan.name}: {need}", _places(left), left.of)
    elif on_timeout == "abandon":
        yield _in_time(tree, left)


def _first_byte(subject: Subject, left: Left) -> Quantity | None:
    """Returns the time to the first byte, where it decides: the caller waits for that alone, or gives up before it."""
    kind = left.plan.call.timeout_kind
    first = time_of(subject.design.components.get(left.callee), "first byte") if kind is not None else None
    if kind is None or first is None or kind.text not in ("first byte", "between bytes"):
        return None
    return first if kind.text == "first byte" or first.high > left.limit else None


def _cancelled(left: Left) -> Finding:
    streams = left.plan.streams
    when = "whenever its caller gives up" if streams else f"after {render_seconds(left.limit)}"
    ends = f"`on_timeout: cancel` of {left.plan.name} ends its work {when}"
    name, most = ("work_once_cancelled", ZERO) if streams else ("work_until_cancelled", left.limit)
    evidence = arithmetic(left.numbers, certificate=bounded_sum({name: most}, most, "<="))
    message = f"{left.callee} may need {render_seconds(left.work.behind.low)}, but {ends}"
    assumed = [CANCELS.format(left.callee)]
    return QUESTION.proved(message, _places(left), left.of, evidence, assumptions=assumed)


def _in_time(tree: CallTree, left: Left) -> Finding:
    plan, work, limit = left.plan, left.work, left.limit
    if copies_of_try(plan.call) > 1:
        needs = f"needs `on_timeout: cancel` of {plan.name}: of two copies one is left when the other has answered"
        return QUESTION.undecided(needs, _places(left), left.of)
    if work.behind.high is None or work.behind.high > limit or (work.calls and work.behind.high == limit):
        needs = f"needs {open_time(work, left.callee)}: {plan.name} abandons it after {render_seconds(limit)}"
        return QUESTION.undecided(needs, _places(left), left.of)
    if (late := next(_cut_tries(left, work.behind.high), None)) is not None:
        return _cut(left, *late)
    gives_up = f"{plan.name} gives up after {render_seconds(limit)}"
    message = f"{left.callee} is done after {render_seconds(work.behind.high)} at most, before {gives_up}"
    certificate = term_fits(work.spent(work.unhung), limit, strict=bool(work.calls))
    evidence = arithmetic(left.numbers, certificate=certificate)
    inside = dict.fromkeys((left.callee, *(inner.callee for inner in (*work.calls, *work.through))))
    assumed = [*left.in_turn, *own_times(tree, left.silent)]
    assumed += [*(NO_WAIT.format(name) for name in inside), *(CANCELS.format(name) for name in left.cut)]
    margin = work.behind.high < limit
    return QUESTION.proved(message, _places(left), left.of, evidence, assumptions=assumed, margin=margin)


def _cut_tries(left: Left, longest: Fraction) -> Iterator[tuple[FailureCause, Step | None]]:
    """Yields the failures after which the deadline of all tries may end a later one that the callee still works on.

    With the step at which it starts, where that is known.  What the callee says of its own calls takes as long as it.
    """
    plan, strict = left.plan, bool(left.work.calls)
    deadline = plan.deadline.low if plan.deadline is not None else None
    if deadline is None or not plan.retries:
        return
    for cause in plan.causes:
        if cause.name == "timeout" and not left.work.calls:
            continue  # the callee answers in time
        takes = cause.takes.high if cause.known and cause.name != "timeout" else least(cause.takes.high, longest)
        course = replace(plan.worst(cause), takes=takes)
        ran, last = started(course, deadline), None
        if ran is not None and ran == plan.tries and not plan.backoff.answered:
            last = last_start(course)
        if last is not None and (last + longest < deadline or (last + longest == deadline and not strict)):
            continue
        begun = start(course, ran) if ran is not None and ran > 1 and cause.known and cause.name != "timeout" else None
        late = begun is not None and begun + left.work.behind.low > deadline
        yield cause, Step(begun, f"{plan.name}: try {ran} starts") if late else None


def _cut(left: Left, cause: FailureCause, begins: Step | None) -> Finding:
    plan, word, deadline = left.plan, cause.name, left.plan.deadline
    assert deadline is not None
    ends = f"its deadline of {render_seconds(deadline.low)}"
    if begins is None or begins.time is None:
        open_ = f"when the last try of {plan.name} after a {word} starts is not followed"
        if not cause.known and cause.missing.words:
            open_ = f"needs {cause.missing}"
        needs = f"{open_}: one that starts shortly before {ends} is left behind"
        return QUESTION.undecided(needs, _places(left), left.of)
    more = begins.time + left.work.behind.low - deadline.low
    message = (
        f"{left.callee} may work for {render_seconds(more)} more after {plan.name} has given up and left it: "
        f"a try after failures ({word}) starts at {render_seconds(begins.time)}, before {ends}"
    )
    witness = (begins, Step(deadline.low, "the caller gives up; the work goes on"))
    evidence = arithmetic({**left.numbers, "it starts": (begins.time, "s")}, witness=witness)
    word_of = plan.call.on_timeout
    cancel = repairs.proposal(Edit(word_of.place, word_of.text, "cancel")) if word_of else None
    return QUESTION.conflict(
        message, _places(left), left.of, evidence, certain=False, assumptions=left.in_turn, repairs=offered(cancel)
    )


def _places(left: Left) -> list[Place]:
    plan, work = left.plan, left.work
    places = [left.around.place.labelled(f"{plan.name} waits this long")]
    places += [work.serve.place.labelled(f"{left.callee} needs this long")] if work.serve else []
    for inner in work.calls[:4]:
        limit = inner.call.deadline if isinstance(inner.call.deadline, Quantity) else inner.call.per_try
        places += [limit.place.labelled(f"{inner.name} may take this long")] if isinstance(limit, Quantity) else []
    if plan.call.on_timeout is not None:
        places.append(plan.call.on_timeout.place.labelled("what a timeout does to the work"))
    return places


def _orphan(subject: Subject, left: Left) -> Finding:
    work, limit = left.work, left.around.limit
    least = max(work.answer.least, work.serve.low if work.serve is not None else ZERO)
    certain = limit.high is not None and least > limit.high
    copies = _copies(left)
    beside = f", with up to {copies} copies at once" if copies > 1 else ""
    more = (
        f"for {render_seconds(work.behind.low - limit.low)} more" if work.behind.low > limit.low else "a moment longer"
    )
    works = "works" if certain else "may work"
    message = f"{left.callee} {works} {more} after {left.plan.name} has given up and left it{beside}"
    evidence = arithmetic({**left.numbers, "copies at once": (copies, "")}, witness=_witness(left), replayed=True)
    return QUESTION.conflict(
        message, _places(left), left.of, evidence,
        certain=certain, assumptions=left.in_turn, repairs=_repairs(subject, left),
    )  # fmt: skip


def _timeout(plan: RetryPolicy) -> RetrySchedule | None:
    """Returns the course of tries that all time out."""
    cause = next((cause for cause in plan.causes if cause.name == "timeout"), None)
    return plan.worst(cause) if cause is not None and plan.retries else None


def _tries_until(left: Left) -> Fraction:
    """Returns when no other try starts beside the first one: its work has ended, or the deadline of all tries has."""
    deadline, ends = left.plan.deadline, left.work.behind.low
    return min(ends, deadline.high) if deadline is not None and deadline.high is not None else ends


def _copies(left: Left) -> int:
    """Returns tries that start before the work of the first one ends."""
    course = _timeout(left.plan)
    begun = started(course, _tries_until(left)) if course is not None else 1
    return begun if begun is not None else 1


def _witness(left: Left) -> Iterator[Step]:
    plan, work, course = left.plan, left.work, _timeout(left.plan)
    yield Step(ZERO, f"{plan.name}: try 1 starts; {left.callee} works on it")
    yield Step(left.limit, "the caller gives up; the work goes on")
    later = (row for row in timeline(course, _tries_until(left), most=4) if row[0] > 1) if course else ()
    yield from (Step(at, f"try {k} starts a copy beside it") for k, at, _ in later)
    yield Step(work.behind.low, "the work of try 1 ends; nobody reads it")


def _repairs(subject: Subject, left: Left) -> tuple[Repair, ...]:
    """Cancel, wait longer, or bound what is inside."""
    word, work = left.plan.call.on_timeout, left.work
    cancel = repairs.proposal(Edit(word.place, word.text, "cancel")) if word else None
    only = work.calls[0].call.deadline if len(work.calls) == 1 and work.serve is None else None
    inside = shorter(subject, only.place, left.limit) if isinstance(only, Quantity) else None
    return offered(cancel, longer(subject, left.around.place, work.behind.low), inside)
