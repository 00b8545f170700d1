"""migration: loops that come to rest in one environment and not in another, with the same text and the same load.

## What
For each group of sampled loops in feedback of a design with `environments:`, what `sustained-oscillation` answers in
each of them.  Loops that are proved to settle in one and never settle in another are reconfigured by the migration
where infrastructure alone makes the difference: the first environment with tiers, links and boundaries of the second.

Where it does not, because the load is another one or the policies are, nothing is said: that is what changed, not where
it runs.

## Why it hurts
Nothing of the code changes, every test of it passes, and the first day in the cloud the pool swings between its bounds.

## Example
```yaml
coherence: 1
infrastructure: {boundaries: {site: {kind: environment, around: [pool], added_delay: 0 s}}}
components: {pool: {desired: 0.5 .. 400, load: 20, util: load / desired}}
loops:
  hpa:
    inside: none
    target: {signal: pool.util, setpoint: 50 %}
    timescale: {period: 15 s, phase: 0 s}
    actuation: {signal: pool.desired, count: commanded, from: 20, bounds: [1, 400.5]}
environments:
  on_prem: {}
  cloud: {infrastructure: {boundaries: {site: {added_delay: 16 s}}}}
```

## Instead
`cloud: {infrastructure: ..., loops: {hpa: {timescale: {period: 17 s}}}}`: a period that is longer than the delay there.

## Source
G. Vinnicombe, Frequency domain uncertainty and the graph topology, IEEE Trans. Automatic Control 38 (1993): how far a
loop may move and stay stable.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from coherence.base.places import Place
from coherence.findings.finding import Finding
from coherence.findings.question_input import Question, Subject

if TYPE_CHECKING:
    from coherence.language.design import Design
    from coherence.language.schema_kinds import Quantity
    from coherence.loops.designs.groups import Group

QUESTION = Question("COH505", "migration", "ai.20 migration risk", slow=True)
QUESTIONS = (QUESTION,)


def ask(subject: Subject) -> Iterator[Finding]:
    """Yields one answer per group of loops, in the environment that the design is read in."""
    design = subject.design
    if not design.environment or not design.loops or design.file not in subject.sources:
        return
    from coherence.loops.designs.groups import groups

    others = tuple(_others(subject))
    for group in groups(subject) if others else ():
        yield from _answer(subject, group, others)


def _others(subject: Subject) -> Iterator[Design]:
    """Yields the design in each of its other environments."""
    from coherence.language.environments.overlay import read_in_environment, stated_environments

    design, text = subject.design, subject.sources[subject.design.file]
    for name in stated_environments(text, design.file):
        if name != design.environment:
            yield read_in_environment(text, design.file, name)


def _answer(subject: Subject, group: Group, others: tuple[Design, ...]) -> Iterator[Finding]:
    from coherence.loops.checks.infrastructure._what_lies_between import (
        is_open,
        is_rest,
        settle,
        swings,
        verdict_about,
        with_infrastructure,
    )

    here = verdict_about(subject, subject.design, group.names)
    there = [(other, verdict_about(subject, other, group.names)) for other in others]
    if here is not None and is_rest(here) and all(is_rest(answer) for _, answer in there):
        where = " and ".join(sorted((subject.design.environment, *(other.environment for other in others))))
        scripts = (here.evidence.certificate, *(answer.evidence.certificate for _, answer in there if answer))
        message = f"{settle(group.names)} wherever the design runs ({where})"
        evidence = here.evidence if len(set(scripts)) == 1 else replace(here.evidence, certificate=None)
        yield QUESTION.proved(message, here.places, group.names, evidence, assumptions=here.assumptions)
    for other, answer in there if here is not None and swings(here) else ():
        moved = with_infrastructure(other, subject.design.infrastructure)
        if here is not None and is_rest(answer) and swings(verdict_about(subject, moved, group.names)):
            yield _conflict(subject, group, other, here)
            return
    for design, answer in ((subject.design, here), *there):
        if answer is not None and is_open(answer):
            message = f"whether {settle(group.names)} in {design.environment} is open: {answer.message}"
            yield QUESTION.undecided(message, answer.places, group.names)
            return


def _conflict(subject: Subject, group: Group, other: Design, here: Finding) -> Finding:
    from coherence.loops.checks.infrastructure._what_lies_between import crossed, delay_of, settle, slower

    values, before = crossed(subject.design, group), crossed(other, group)
    changed = {name: value for name, value in values.items() if _differs(value, before.get(name))}
    delay, earlier = delay_of(values), delay_of(before)
    words = ", ".join(f"{name} is {value.text}" for name, value in changed.items())
    message = (
        f"{settle(group.names)} in {other.environment} and never in {subject.design.environment}, by the "
        f"infrastructure alone{f' ({words})' if words else ''}: {here.message}"
    )
    numbers = {**here.evidence.numbers, "delay": (delay, "s"), f"delay in {other.environment}": (earlier, "s")}
    return QUESTION.conflict(
        message, (*_places(changed), *here.places), group.names, replace(here.evidence, numbers=numbers),
        certain=here.certainty == "certain", assumptions=here.assumptions,
        repairs=slower(subject, group.names, delay) if delay > earlier else (),
    )  # fmt: skip


def _differs(value: Quantity, before: Quantity | None) -> bool:
    return before is None or (value.low, value.high) != (before.low, before.high)


def _places(changed: dict[str, Quantity]) -> tuple[Place, ...]:
    return tuple(value.place.labelled(f"{name} here") for name, value in changed.items())
