"""Joins the answers about one design in several environments: what holds in each is said once, the rest says where."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Protocol, TypeVar

from coherence.base.places import Place
from coherence.base.solver import joined
from coherence.findings.accounting import account_together
from coherence.findings.design_answers import Answers
from coherence.findings.finding import Accounting, Finding, NotRead, OpenPromises, Repair, Report
from coherence.findings.suppressions import UNUSED
from coherence.language.design import Design
from coherence.language.entries.leaves import leaves


class HasDesign(Protocol):
    """What is asked about: a design with its texts."""

    @property
    def design(self) -> Design:
        """Returns the design."""


Read = TypeVar("Read", bound=HasDesign)


@dataclass(frozen=True)
class InEnvironment:
    """The design in one of its environments, and what is answered there."""

    design: Design
    findings: tuple[Finding, ...]
    not_read: tuple[NotRead, ...]
    suppressed: tuple[Finding, ...] = ()


def in_each(
    ask: Callable[[Read], Answers], join: Callable[[Report, Read, Answers], Report], entries: Iterable[Read],
    report: Report,
) -> Report:  # fmt: skip
    """Returns the report with the answers about a design in each of its environments, joined one by one.

    Policies, pairs and promises are counted once, by the worst that is said of them.
    """
    answers, before = [], report
    counted, open_promises = list[tuple[Design, Answers]](), list[OpenPromises]()
    for entry in entries:
        counted.append((entry.design, answered := ask(entry)))
        own = join(replace(report, findings=(), not_read=(), suppressed=(), open_promises=()), entry, answered)
        open_promises += own.open_promises
        answers.append(InEnvironment(entry.design, own.findings, own.not_read, own.suppressed))
        report = replace(own, findings=report.findings, not_read=report.not_read, suppressed=report.suppressed)
    names = " and ".join(each.design.environment for each in answers)
    return replace(
        report,
        open_promises=(*before.open_promises, *_largest(open_promises)),
        accounting=before.accounting + _accounting(counted),
        findings=(*report.findings, *joined_findings(answers)),
        suppressed=(*report.suppressed, *joined_findings([replace(own, findings=own.suppressed) for own in answers])),
        not_read=(*report.not_read, *joined_not_read(answers)),
        assumptions=(*report.assumptions, f"{answers[0].design.file} is asked about as it is in {names}"),
    )


def _accounting(answers: Sequence[tuple[Design, Answers]]) -> Accounting:
    counted = account_together([(design, own.findings) for design, own in answers])
    return replace(
        counted, unanswered=min(own.accounting.unanswered for _, own in answers),
        cut_short=max(own.accounting.cut_short for _, own in answers),
    )  # fmt: skip


def _largest(open_promises: Iterable[OpenPromises]) -> Iterable[OpenPromises]:
    """Returns how many promises of each kind are open in the environment where most are."""
    largest: dict[str, OpenPromises] = {}
    for promises in open_promises:
        largest[promises.kind] = max(largest.get(promises.kind, promises), promises, key=lambda own: own.number)
    return largest.values()


def joined_findings(answers: Sequence[InEnvironment]) -> tuple[Finding, ...]:
    """Returns each finding once, with the environments in which it is the answer unless it is in all of them."""
    alike: dict[object, list[tuple[str, Finding]]] = {}
    for own in answers:
        times: Counter[object] = Counter()
        for finding in own.findings:
            words = (finding.fingerprint, finding.certainty, finding.severity, finding.message, finding.evidence.grade)
            times[words] += 1
            alike.setdefault((words, times[words]), []).append((own.design.environment, finding))
    return tuple(
        _joined(group, len(answers))
        for group in alike.values()
        if len(group) == len(answers) or group[0][1].code != UNUSED  # what silences something somewhere is used
    )


def _joined(group: Sequence[tuple[str, Finding]], number: int) -> Finding:
    names, (first, *others) = tuple(dict.fromkeys(name for name, _ in group)), [finding for _, finding in group]
    scripts = dict.fromkeys(finding.evidence.certificate for _, finding in group)
    evidence = replace(
        first.evidence,
        certificate=None if None in scripts else joined(filter(None, scripts)),
        numbers=_figures(group),
        replayed=all(finding.evidence.replayed for _, finding in group),
        cut_short=any(finding.evidence.cut_short for _, finding in group),
    )
    assumptions = tuple(dict.fromkeys(words for _, finding in group for words in finding.assumptions))
    repairs = tuple(repair for repair in first.repairs if all(_has(repair, other) for other in others))
    places = tuple(dict.fromkeys(place for finding in (first, *others) for place in finding.places))
    if others:
        first = replace(first, evidence=evidence, repairs=repairs, places=places, assumptions=assumptions)
    if len(names) == number:
        return first
    where = " and ".join(names)
    limited = tuple(replace(repair, verified=f"{repair.verified} (in {where})", proved=False) for repair in repairs)
    return replace(first, message=f"in {where}: {first.message}", environments=names, repairs=limited)


def _figures(group: Sequence[tuple[str, Finding]]) -> Mapping[str, tuple[Fraction | float | int, str]]:
    """Returns the figures of the first environment, and those of the others that differ, with their names."""
    figures = dict(group[0][1].evidence.numbers)
    for name, finding in group[1:]:
        numbers = finding.evidence.numbers.items()
        figures |= {f"{what} (in {name})": value for what, value in numbers if figures.get(what) != value}
    return figures


def _has(repair: Repair, finding: Finding) -> bool:
    return any(other.edits == repair.edits and other.proved == repair.proved for other in finding.repairs)


def joined_not_read(answers: Sequence[InEnvironment]) -> tuple[NotRead, ...]:
    """Returns the lines of values that are read in no environment."""
    read: set[Place] = set()
    for own in answers:
        read |= {leaf.place for leaf in leaves(own.design)} - {line.place for line in own.not_read}
    chosen: dict[Place, tuple[bool, NotRead]] = {}
    for own in answers:
        overridden = {place for place, _, _ in own.design.unused}
        for line in own.not_read:
            has_value = line.place not in overridden
            if line.place not in read and (line.place not in chosen or has_value > chosen[line.place][0]):
                chosen[line.place] = (has_value, line)
    return tuple(line for _, line in chosen.values())
