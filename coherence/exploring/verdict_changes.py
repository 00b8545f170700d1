"""Says which verdicts differ between two designs, and which of the changed values make each of them differ.

A changed value is to blame where the earlier design with that value alone has the later verdict.  Where none is,
values are taken back from the later design one by one as long as the verdict stays: what is left is a smallest set.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from coherence.base.errors import InputError
from coherence.base.records import Record
from coherence.base.watchdog import TimeOverError, current_run
from coherence.checking.design_check import Options, analysis
from coherence.checking.workspace import Entry
from coherence.findings.finding import Finding, Verdict
from coherence.language.calls import Call
from coherence.language.components import Component
from coherence.language.design import Design
from coherence.language.document import Table
from coherence.language.environments.differences import Difference, between, differences
from coherence.language.environments.overlay import document_of, in_environment
from coherence.language.limits import Limit
from coherence.language.loops import Loop
from coherence.language.reading import ENVIRONMENTS, design_from_table
from coherence.language.timers import Timer

Key = tuple[str, tuple[str, ...]]  # a code, and whose finding it is
Verdicts = tuple[str, ...]
NOT_SOUGHT = "not sought: the time limit was reached"
SECTIONS: Mapping[object, type[Record]] = {
    "calls": Call,
    "components": Component,
    "limits": Limit,
    "loops": Loop,
    "timers": Timer,
}
TOGETHER = "the designs between the two cannot be read, or are answered otherwise"


@dataclass(frozen=True)
class VerdictChange:
    """A question that is answered otherwise in the later design.

    `causes`: sets of changed values, each of which alone makes the change; without any, `reason` says why.
    """

    code: str
    of: tuple[str, ...]
    before: tuple[Finding, ...]
    after: tuple[Finding, ...]
    causes: tuple[tuple[Difference, ...], ...] = ()
    reason: str = ""

    @property
    def is_new_conflict(self) -> bool:
        """Returns whether the later design has a conflict here that the earlier one has not."""
        return _conflicts(self.after) and not _conflicts(self.before)


@dataclass(frozen=True)
class DesignChanges:
    """What differs between two designs: values, verdicts, and the figures of verdicts that stay."""

    differences: tuple[Difference, ...]
    verdicts: tuple[VerdictChange, ...]
    figures: tuple[VerdictChange, ...]
    alike: int  # questions that are answered alike, with the same words


def compared(before: Entry, after: Entry, options: Options) -> DesignChanges:
    """Returns what differs between two designs, within the limit of the current run."""
    old, new = _answers(before, options), _answers(after, options)
    keys = list(dict.fromkeys((*old, *new)))
    roots = [root_of(entry) for entry in (before, after)]
    changed = tuple(_values(*roots))
    flips = [key for key in keys if verdicts(old.get(key, ())) != verdicts(new.get(key, ()))]
    stays = [key for key in keys if key not in flips and _words(old[key]) != _words(new[key])]
    search = _CauseSearch(before, roots[0], changed, options)
    return DesignChanges(
        changed,
        tuple(search.change(key, old.get(key, ()), new.get(key, ())) for key in flips),
        tuple(VerdictChange(*key, old[key], new[key]) for key in stays),
        len(keys) - len(flips) - len(stays),
    )


def _values(before: Table | None, after: Table | None) -> Iterator[Difference]:
    """Yields the values that differ, without those that no answer depends on."""
    if before is not None and after is not None:
        yield from (one for one in differences(before, after) if not _is_for_people(one))


def _is_for_people(difference: Difference) -> bool:
    """Decides whether no answer depends on a value: a note, a summary; not an entry that is called so."""
    section, *below = difference.path
    if not below:
        return section in Design.keys and Design.keys[str(section)].for_people
    own = SECTIONS[section].keys.get(str(below[1])) if len(below) == 2 and section in SECTIONS else None
    return own is not None and own.for_people


def root_of(entry: Entry) -> Table | None:
    """Returns the document of a design as it is in its environment; None of one that was imported."""
    if entry.design.imported:
        return None
    root = document_of(entry.design.text, entry.design.file).root
    assert isinstance(root, Table)
    return in_environment(root, entry.design.environment)[0] if ENVIRONMENTS in root else root


def _answers(entry: Entry, options: Options) -> Mapping[Key, tuple[Finding, ...]]:
    answered = analysis(entry.design, entry.sources, entry.rebuild, options=options).answers
    return _by_key(finding for finding in answered.findings if options.wants(finding.code))


def _by_key(findings: Iterable[Finding]) -> Mapping[Key, tuple[Finding, ...]]:
    groups: dict[Key, list[Finding]] = {}
    for finding in findings:
        if finding.verdict is not Verdict.NOTE:
            groups.setdefault((finding.code, tuple(sorted(finding.of))), []).append(finding)
    return {key: tuple(group) for key, group in groups.items()}


def verdicts(findings: Sequence[Finding]) -> Verdicts:
    """Returns the verdicts of some findings in words, sorted: `conflict (certain)`, `proved`."""
    certain = (f" ({finding.certainty})" if finding.certainty else "" for finding in findings)
    return tuple(sorted(f"{finding.verdict}{words}" for finding, words in zip(findings, certain, strict=True)))


def _words(findings: Sequence[Finding]) -> Counter[str]:
    return Counter(finding.message for finding in findings)


def _conflicts(findings: Sequence[Finding]) -> bool:
    return any(finding.verdict is Verdict.CONFLICT for finding in findings)


@dataclass
class _CauseSearch:
    """Asks about designs between two, each once."""

    before: Entry
    root: Table | None
    changed: Sequence[Difference]
    options: Options
    known: dict[frozenset[int], Mapping[Key, Verdicts] | None] = field(default_factory=dict)

    def change(self, key: Key, old: tuple[Finding, ...], new: tuple[Finding, ...]) -> VerdictChange:
        """Returns a change with its causes."""
        if self.root is None:
            return VerdictChange(*key, old, new, reason="values of manifests are not put into each other")
        if not self.changed:
            return VerdictChange(*key, old, new, reason="no value differs, and what was asked is answered otherwise")
        try:
            causes = tuple(tuple(self.changed[n] for n in sorted(own)) for own in self._causes(key, verdicts(new)))
            return VerdictChange(*key, old, new, causes, "" if causes else TOGETHER)
        except TimeOverError:
            return VerdictChange(*key, old, new, reason=NOT_SOUGHT)

    def _causes(self, key: Key, wanted: Verdicts) -> Iterator[frozenset[int]]:
        every = frozenset(range(len(self.changed)))
        alone = [one for one in map(frozenset, ([n] for n in every)) if self._has(one, key, wanted)]
        yield from alone
        if not alone and self._has(every, key, wanted):
            for number in sorted(every):
                if self._has(every - {number}, key, wanted):
                    every -= {number}
            yield every

    def _has(self, chosen: frozenset[int], key: Key, wanted: Verdicts) -> bool:
        if chosen not in self.known:
            if current_run().left <= 0:
                raise TimeOverError
            self.known[chosen] = self._verdicts_of(chosen)
        answers = self.known[chosen]
        return answers is not None and answers.get(key, ()) == wanted

    def _verdicts_of(self, chosen: frozenset[int]) -> Mapping[Key, Verdicts] | None:
        """Returns the verdicts about the earlier design with some values of the later one; None of what is none."""
        assert self.root is not None
        laid, own = between(self.root, [self.changed[n] for n in sorted(chosen)]), self.before.design
        try:
            design: Design = design_from_table(laid, file=own.file, text=own.text)
        except InputError:
            return None
        sources = self.before.sources
        answered = analysis(design, sources, lambda _: design, options=self.options, cut=False).answers
        return {key: verdicts(findings) for key, findings in _by_key(answered.findings).items()}
