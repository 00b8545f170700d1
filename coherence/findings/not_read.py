"""Names what a design states and no answer of a command was computed from.

Reading is measured: every value notes who reads it (`base/reads.py`).  A value is read where an answer was computed
from it; a value of a loop, call, timer, limit or promise only where that answer speaks of the entry too, since a
question looks at many entries before it finds those that it is about.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from coherence.base.places import Place
from coherence.base.reads import ValueReads, unnoted
from coherence.findings.finding import Finding, NotRead
from coherence.language import names
from coherence.language.design import Design
from coherence.language.entries.leaves import DesignLeaf, leaves
from coherence.model.caps import lowered

POLICIES = ("loops", "calls", "timers", "limits", "promises")
ANSWERED = ("promises", "limits", "timers")  # what is written to be kept: each is owed an answer
LISTED = ("prices", "telemetry")  # what other commands are for


@dataclass(frozen=True)
class Basis:
    """What an answer was computed from, and the entries that it speaks of (None: of whatever it read)."""

    read: frozenset[Place]
    of: frozenset[str] | None = None
    spots: frozenset[tuple[str, int]] = frozenset()  # file and line of its places
    codes: tuple[str, ...] = ()


def basis(design: Design, reads: ValueReads, findings: Sequence[Finding]) -> Basis:
    """Returns what findings about a design were computed from, and what they speak of."""
    read = reads.all()
    named = lowered(design, read).union(name for finding in findings for name in finding.of)
    spots = frozenset((place.file, place.line) for finding in findings for place in finding.places)
    return Basis(read, named, spots, tuple(dict.fromkeys(finding.code for finding in findings)))


@dataclass(frozen=True)
class Reasons:
    """Why values are not read: of an entry without any that is (`own`: by its name), and of one key."""

    entry: str
    key: str
    own: Mapping[str, str] = field(default_factory=dict)


Entry = tuple[str, str]


def not_read(design: Design, answers: Sequence[Basis], reasons: Reasons) -> tuple[NotRead, ...]:
    """Returns the values of a design that no answer was computed from, in the order of the design."""
    entries = _entries(design)
    read = _read(entries, answers)
    with unnoted():
        things = frozenset(names.things(design))
    spoken = frozenset(thing for entry, own in read.items() if own for thing in _mentioned(entries[entry], things))
    return tuple(
        _line(leaf, reasons, whole=not read[entry], touching=bool(spoken & _mentioned(own, things)))
        for entry, own in entries.items()
        for leaf in own
        if leaf not in read[entry]
    )


def unused_values(design: Design) -> tuple[NotRead, ...]:
    """Returns the values of a design that do not count in the environment in which it is read."""
    return tuple(NotRead(place, "environments", path, "", reason) for place, path, reason in design.unused)


def without(unread: Iterable[NotRead], read: Basis) -> tuple[NotRead, ...]:
    """Returns the unread values but those that one more answer was computed from."""
    return tuple(
        line
        for line in unread
        if line.place not in read.read
        or not _about((line.section, line.entry), {(line.place.file, line.place.line)}, read)
    )


def readers(design: Design, answers: Sequence[Basis]) -> dict[Entry, tuple[str, ...]]:
    """Returns the codes of the answers that were computed from something of each entry and speak of it."""
    entries = _entries(design)
    by_code: dict[str, list[Basis]] = {}
    for basis_of_code in answers:
        for code in basis_of_code.codes:
            by_code.setdefault(code, []).append(basis_of_code)
    read = {code: _read(entries, own) for code, own in sorted(by_code.items())}
    return {entry: tuple(code for code in read if read[code][entry]) for entry in entries}


def _entries(design: Design) -> dict[Entry, list[DesignLeaf]]:
    """Returns the values of each entry."""
    entries: dict[Entry, list[DesignLeaf]] = {}
    for leaf in leaves(design):
        entries.setdefault((leaf.section, leaf.entry), []).append(leaf)
    return entries


def _read(
    entries: Mapping[Entry, Sequence[DesignLeaf]], answers: Sequence[Basis]
) -> dict[Entry, frozenset[DesignLeaf]]:
    """Returns the values of each entry that some answer was computed from."""
    readers: dict[Place, list[Basis]] = {}
    places = frozenset(leaf.place for own in entries.values() for leaf in own)
    for basis in answers:
        for place in places & basis.read:
            readers.setdefault(place, []).append(basis)
    read = {}
    for entry, own in entries.items():
        lines = {(leaf.place.file, leaf.place.line) for leaf in own}
        noted = [leaf for leaf in own if any(_about(entry, lines, basis) for basis in readers.get(leaf.place, ()))]
        supplied = [leaf for leaf in own if leaf.key == "uses"] if any(not leaf.own for leaf in noted) else []
        read[entry] = frozenset((*noted, *supplied))
    return read


def _about(entry: Entry, lines: Collection[tuple[str, int]], basis: Basis) -> bool:
    """Decides whether an answer speaks of an entry: by its name, or by a line of it."""
    section, name = entry
    return basis.of is None or section not in POLICIES or name in basis.of or not basis.spots.isdisjoint(lines)


def _mentioned(own: Iterable[DesignLeaf], things: frozenset[str]) -> frozenset[str]:
    """Returns the things that an entry names or is."""
    return frozenset().union(*(leaf.words for leaf in own)) & things


def _line(leaf: DesignLeaf, reasons: Reasons, *, whole: bool, touching: bool) -> NotRead:
    reason = reasons.own.get(leaf.entry, reasons.entry) if whole else reasons.key
    owed = whole and leaf.section in ANSWERED
    counts = leaf.own and leaf.section not in LISTED and (owed or touching)
    return NotRead(leaf.place, leaf.section, leaf.entry, leaf.key, reason, counts)
