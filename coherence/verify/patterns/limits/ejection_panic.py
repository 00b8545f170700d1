"""ejection against panic: taking failing hosts out so far that the panic rule puts all of them back.

## What
Ejection may take out e of N hosts (the cap after its exact rounding).  Panic ignores ejection while the healthy
share is below its threshold: the smallest number of ejected hosts with (N - k) / N < p is found for every N in
the range by evaluating the trigger itself.  If one ejected host is enough, every ejection is undone.  If more
are needed, it takes that many hosts failing at once (`failing:` of the component); with panic switched off and
every host ejectable, that is an outage.

## Why it hurts
With one host at 100 % and a panic threshold of 50 %, each ejection leaves 0 % healthy, panic takes over, and all
requests still go to the bad host.  The detector's counters show ejections; users see none of their effect.

## Example
```yaml
coherence: 1
components: {hosts: {copies: 1}}
limits: {ejection: {counts: hosts.ejected, at_most: 100 % of hosts.copies round down}}
loops:
  panic: {trigger: hosts.healthy / hosts.copies < 50 %, actuation: {signal: hosts.ejected, law: ignore}}
```

## Instead
An ejection cap that stops before panic: `at_most: 50 % of hosts.copies round down`.

## Source
envoyproxy/envoy#2671, istio/istio#20135.  Envoy documentation, Panic threshold: below the threshold (strict), 50 % by
default; Istio switches it off by default.  Envoy source, outlier detection: rounding of the share differs by version.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

from coherence.base.bisection import halved, whole_mean
from coherence.base.places import Place
from coherence.findings import repairs
from coherence.findings.finding import Finding, Repair, Step
from coherence.findings.question_input import Certificate, Question, Subject, arithmetic
from coherence.language.design import Limit, Loop, Relay
from coherence.language.expressions import names as used
from coherence.language.expressions import walk
from coherence.language.expressions.tree import Compare, Number, Tree
from coherence.language.schema_kinds import Formula
from coherence.model.model import Interval
from coherence.verify.facts.design_facts import DesignFacts, copies, known
from coherence.verify.facts.limits import at_members, cap, place_of
from coherence.verify.facts.ranges import point, truth, with_ranges
from coherence.verify.facts.signs import DOWN, UP, sign
from coherence.verify.facts.writers import Writer
from coherence.verify.patterns.writers._pair import Numbers

QUESTION = Question("COH214", "ejection-vs-panic", "ai.04 runtime control coherence")
QUESTIONS = (QUESTION,)
HEALTHY = ("healthy", "available", "ready", "up")
FAILING = ("failing", "bad", "faulty", "failed")
MOST_HOSTS = 10_000
EACH_UP_TO = 200  # hosts: beyond, the fewest ejections are halved in on, where more of them never end a panic


@dataclass(frozen=True)
class EjectionGuard:
    """An ejection cap and the panic rule that ignores ejections of the same hosts."""

    hosts: str
    limit: Limit | Writer  # a limit on the ejected, or the loop that ejects and its own bound
    loop: Loop
    trigger: Formula
    condition: Tree

    @property
    def of(self) -> tuple[str, str]:
        return (self.limit.name, self.loop.name)

    @property
    def places(self) -> tuple[Place, ...]:
        stated = place_of(self.limit.at_most, self.limit) if isinstance(self.limit, Limit) else self.limit.place
        cap_ = stated.labelled("so many may be ejected")
        return (cap_, self.trigger.place.labelled(f"{self.loop.name} ignores ejections while this holds"))


@dataclass(frozen=True)
class HostsCase:
    """One number of hosts: how many may be ejected, and the fewest ejections that bring panic on (None: never)."""

    hosts: int
    ejectable: int
    panics_at: int | None


def ask(subject: Subject) -> Iterator[Finding]:
    """Yields one answer per ejection cap beside a rule that ignores ejections."""
    if not any(_ignores(loop) for loop in subject.design.loops.values()):
        return
    facts = known(subject)
    for guard in _guards(facts):
        yield from _answer(subject, facts, guard)


def _ignores(loop: Loop) -> bool:
    return loop.actuation is not None and loop.actuation.law is not None and loop.actuation.law.text == "ignore"


def _guards(facts: DesignFacts) -> Iterator[EjectionGuard]:
    for path, writers in facts.written.items():
        for loop in (writer.loop for writer in writers if writer.kind == "ignore"):
            trigger = loop.trigger.enter if isinstance(loop.trigger, Relay) else loop.trigger
            if isinstance(trigger, Formula):
                hosts, condition = path.partition(".")[0], facts.tree(trigger.tree)
                yield from (
                    EjectionGuard(hosts, limit, loop, trigger, condition) for limit in _caps(facts, path, writers)
                )


def _caps(facts: DesignFacts, path: str, writers: list[Writer]) -> list[Limit | Writer]:
    """Returns limits on the ejected; without any, the bounds of the loops that eject."""
    limits: list[Limit | Writer] = [limit for limit in facts.counted.get(path, ()) if limit.at_most is not None]
    return limits or [w for w in writers if w.kind in ("step", "scale", "set") and w.values.high is not None]


def _answer(subject: Subject, facts: DesignFacts, guard: EjectionGuard) -> Iterator[Finding]:
    range_ = copies(facts, guard.hosts)
    if range_ is None or range_.low is None or range_.high is None or range_.high - range_.low > MOST_HOSTS:
        yield QUESTION.undecided(f"needs copies of {guard.hosts}", guard.places, guard.of)
        return
    counts = range(max(1, math.ceil(range_.low)), math.floor(range_.high) + 1)
    if counts and counts[-1] > EACH_UP_TO and not _lasts(facts, guard, range_):
        needs = (
            f"needs at most {EACH_UP_TO} {guard.hosts}: more ejections may also end what {guard.loop.name} waits for"
        )
        yield QUESTION.undecided(needs, guard.places, guard.of, bound=f"{EACH_UP_TO} {guard.hosts}")
        return
    cases = [case for count in counts if (case := _case(facts, guard, count)) is not None]
    if not cases or len(cases) != len(counts):
        yield QUESTION.undecided(
            f"needs the numbers in {guard.limit.name} and the trigger of {guard.loop.name}", guard.places, guard.of
        )
        return
    failing = next((facts.values[path] for word in FAILING if (path := f"{guard.hosts}.{word}") in facts.values), None)
    yield from _judged(subject, facts, guard, cases, failing)


def _case(facts: DesignFacts, guard: EjectionGuard, count: int) -> HostsCase | None:
    most = _most(facts, guard, count)
    if most is None:
        return None
    ejectable = min(count, math.floor(most))
    if count > EACH_UP_TO:
        return _large(facts, guard, count, ejectable)
    held = [_panics(facts, guard, count, ejected) for ejected in range(ejectable + 1)]
    return None if None in held else HostsCase(count, ejectable, held.index(True) if True in held else None)


def _most(facts: DesignFacts, guard: EjectionGuard, count: int) -> Fraction | None:
    """Returns the cap on ejected hosts, of so many."""
    if not isinstance(guard.limit, Limit):
        return guard.limit.values.high
    tree = cap(facts, guard.limit)
    return at_members(facts, tree, guard.hosts, count) if tree is not None else None


def _panics(facts: DesignFacts, guard: EjectionGuard, count: int, ejected: int) -> bool | None:
    """Returns the trigger with `ejected` of `count` hosts out and all others healthy."""
    ranges = {f"{guard.hosts}.copies": point(count), f"{guard.hosts}.ejected": point(ejected)}
    ranges |= {f"{guard.hosts}.{word}": point(count - ejected) for word in HEALTHY}
    return truth(guard.condition, with_ranges(facts.values, ranges))


def _lasts(facts: DesignFacts, guard: EjectionGuard, range_: Interval) -> bool:
    """Decides whether one ejection more, and one healthy host less, never ends a panic."""
    moves = {f"{guard.hosts}.{word}": DOWN for word in HEALTHY} | {f"{guard.hosts}.ejected": UP}
    values = with_ranges(facts.values, {f"{guard.hosts}.copies": range_})
    return not sign(guard.condition, moves, values) & DOWN


def _large(facts: DesignFacts, guard: EjectionGuard, count: int, ejectable: int) -> HostsCase | None:
    """Returns the same by halving, for a trigger of which `_lasts` is true."""
    ends = _panics(facts, guard, count, 0), _panics(facts, guard, count, ejectable)
    if None in ends or ends[0]:
        return None
    if not ends[1]:
        return HostsCase(count, ejectable, None)
    fewest, _ = halved(lambda out: bool(_panics(facts, guard, count, out)), ejectable, 0, middle=whole_mean)
    return HostsCase(count, ejectable, fewest)


def _judged(
    subject: Subject, facts: DesignFacts, guard: EjectionGuard, cases: list[HostsCase], failing: Interval | None
) -> Iterator[Finding]:
    out = [(case, _fewest(case)) for case in cases]
    reached = [(case, need) for case, need in out if need is not None and _reached(case, need, failing)]
    open_ = [(case, need) for case, need in out if need is not None]
    if reached:
        certain = len(reached) == len(cases) and _surely(reached, failing)
        yield _conflict(subject, facts, guard, *reached[0], certain=certain)
    elif open_ and failing is None:
        case, need = open_[0]
        what = "every host is out" if case.panics_at is None else f"{guard.loop.name} undoes the ejections"
        yield QUESTION.undecided(
            f"only if {need} of {case.hosts} are out at once {what}: "
            f"needs how many fail together ({guard.hosts}.failing)",
            guard.places, guard.of,
        )  # fmt: skip
    else:
        yield _proved(guard, out, failing)


def _fewest(case: HostsCase) -> int | None:
    """Returns the fewest hosts out at once with which ejection undoes itself, or leaves none; None where it never
    does.
    """
    if case.panics_at is not None:
        return max(1, case.panics_at)
    return case.hosts if case.ejectable >= case.hosts else None


def _reached(case: HostsCase, need: int, failing: Interval | None) -> bool:
    """One failing host is what ejection is for; more must be stated."""
    if need == 1:
        return True
    return failing is not None and failing.high is not None and failing.high >= need <= case.ejectable


def _surely(reached: list[tuple[HostsCase, int]], failing: Interval | None) -> bool:
    return all(
        need == 1 or (failing is not None and failing.low is not None and failing.low >= need) for _, need in reached
    )


def _proved(guard: EjectionGuard, out: list[tuple[HostsCase, int | None]], failing: Interval | None) -> Finding:
    assert out
    fails = failing.high if failing is not None and failing.high is not None else None
    claims = [f"(< {_least(case, fails)}.0 {need}.0)" for case, need in out if need is not None]
    caps = [f"(<= {case.ejectable}.0 {case.hosts}.0)" for case, _ in out]
    numbers: Numbers = {"hosts": (out[0][0].hosts, ""), "ejectable": (out[0][0].ejectable, "")}
    evidence = arithmetic(numbers, certificate=Certificate(claim=f"(and true {' '.join([*caps, *claims])})").script())
    assumptions = (f"at most {fails} of {guard.hosts} fail together",) if fails is not None else ()
    worst = min((case for case, _ in out), key=lambda case: case.hosts - case.ejectable)
    spared = f"{worst.hosts - worst.ejectable} of {worst.hosts} {guard.hosts} are never ejected"
    undone = any(case.panics_at is not None for case, _ in out)
    reason = f"ejection stops before {guard.loop.name} begins" if undone or worst.ejectable == 0 else spared
    return QUESTION.proved(reason, guard.places, guard.of, evidence, assumptions=assumptions)


def _least(case: HostsCase, fails: Fraction | None) -> int:
    return case.ejectable if fails is None else min(case.ejectable, math.floor(fails))


def _conflict(
    subject: Subject, facts: DesignFacts, guard: EjectionGuard, case: HostsCase, need: int, *, certain: bool
) -> Finding:
    outage = case.panics_at is None
    hosts = f"{case.hosts} host{'s' * (case.hosts != 1)}"
    if outage:
        message = (
            f"with {hosts} all may be ejected and {guard.loop.name} never steps in: {need} failing leave no host at all"
        )
        end = "no host is left for any request until an ejection ends"
    else:
        message = (
            f"with {hosts} ejecting {need} brings {guard.loop.name} on, which ignores ejections: "
            "the failing hosts get traffic again"
        )
        end = (
            f"{case.hosts - need} of {case.hosts} are healthy: {guard.loop.name} holds, requests go to all hosts again"
        )
    witness = (
        Step(Fraction(0), f"{need} of {hosts} fail{'s' * (need == 1)}: all ejected ({case.ejectable} may be)"),
        Step(None, end),
    )
    numbers: Numbers = {"hosts": (case.hosts, ""), "ejectable": (case.ejectable, ""), "needed": (need, "")}
    place = facts.places.get(f"{guard.hosts}.copies")
    places = (*guard.places, *((place.labelled("how many hosts there are"),) if place else ()))
    return QUESTION.conflict(
        message, places, guard.of, arithmetic(numbers, witness=witness),
        certain=certain, repairs=_repairs(subject, facts, guard, case),
    )  # fmt: skip


def _repairs(subject: Subject, facts: DesignFacts, guard: EjectionGuard, case: HostsCase) -> Iterator[Repair]:
    """Cap ejection where panic begins, in the formula that stands there, or lower the threshold."""
    stated = guard.limit.at_most if isinstance(guard.limit, Limit) else None
    share = next(
        (node.right for node in walk(guard.condition) if isinstance(node, Compare) and isinstance(node.right, Number)),
        None,
    )
    percent = (
        next((node for node in walk(stated.tree) if isinstance(node, Number)), None)
        if isinstance(stated, Formula)
        else None
    )
    if isinstance(stated, Formula) and share is not None and percent is not None and 0 <= share.value < 1:
        share_left = min(1 - share.value, repairs.downward_round(Fraction(case.hosts - 1, case.hosts)))
        edit = repairs.rewrite(subject, stated.at(percent.span), share_left, percent.dimension)
        repair = repairs.proposal(edit)
        yield from [repair] if repair else []
    quantity = facts.quantities.get(f"{guard.hosts}.copies")
    if quantity is not None and share is not None and share.value < 1 and used(guard.condition):
        repair = repairs.proposal(repairs.change(subject, quantity, Fraction(math.ceil(1 / (1 - share.value)))))
        yield from [repair] if repair else []
