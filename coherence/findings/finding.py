"""Defines the answer of every engine: a Finding, with its verdict, its evidence, its places and its repairs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields, replace
from enum import StrEnum
from fractions import Fraction
from functools import cached_property

from coherence.base.places import Place


class Verdict(StrEnum):
    """The answer to a question about a design: conflict, proved, undecided or vacuous; or a note beside them."""

    CONFLICT = "conflict"  # some run breaks the promise; a witness shows one
    PROVED = "proved"  # no run breaks it; a certificate says why
    UNDECIDED = "undecided"  # neither; the reason and the bound reached are given
    VACUOUS = "vacuous"  # no run at all, or a trigger that cannot be reached
    NOTE = "note"  # a fact that no promise is about: it decides nothing

    @property
    def decides(self) -> bool:
        """Returns whether the question is answered: an undecided one and a note leave it open."""
        return self not in (Verdict.UNDECIDED, Verdict.NOTE)


class Severity(StrEnum):
    """How much it matters; apart from how well it is known (`Grade`)."""

    ERROR = "error"
    WARNING = "warning"
    INFO = "info"


class Grade(StrEnum):
    """How well it is known, best first."""

    PROVED = "proved"
    BOUNDED = "bounded"
    SIMULATED = "simulated"
    LINEARISED = "linearised"
    ESTIMATED = "estimated"


@dataclass(frozen=True)
class Step:
    """One line of a timeline.  `time` in seconds since the run began (None: no clock, or any time)."""

    time: Fraction | None
    text: str


@dataclass(frozen=True)
class Evidence:
    """Why the verdict holds: a method, and a witness (conflict) or certificate (proved).

    `certificate` is SMT-LIB 2: scripts separated by `(reset)`, each of which must be `unsat`; `numbers` are the figures
    that decided, as name -> (value, unit); `bound` says how far an undecided search got;
    `replayed` is True when the exact executor went through `witness` step by step; `cut_short` where a time limit
    ended the search: on another machine, or at another time, the answer may be another.
    """

    grade: Grade
    method: str
    witness: tuple[Step, ...] = ()
    certificate: str | None = None
    numbers: Mapping[str, tuple[Fraction | float | int, str]] = field(default_factory=dict)
    bound: str = ""
    replayed: bool = False
    cut_short: bool = False


@dataclass(frozen=True)
class Edit:
    """Replace the text `old` at `place` by `new`."""

    place: Place
    old: str
    new: str


@dataclass(frozen=True)
class Repair:
    """A change of the text that removes a finding; `verified` says what was re-checked after making it.

    `proved`: after it the question answers `proved` about the same policies.  Else it is a candidate, never written by
    a program: a simulation or a linear verdict favours it, or the question no longer says anything.
    `concedes`: what it gives up or buys (a promise relaxed, hardware added), in words; no program writes that either.
    """

    edits: tuple[Edit, ...]
    verified: str
    proved: bool = False
    concedes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Finding:
    """One answer.  The first place is the primary one; `of` names the parts of the design involved."""

    code: str
    slug: str
    verdict: Verdict
    severity: Severity
    message: str
    places: tuple[Place, ...]
    of: tuple[str, ...]
    evidence: Evidence
    certainty: str = ""  # for conflicts: "certain" (whatever the design leaves open) or "possible" (for some of it)
    assumptions: tuple[str, ...] = ()
    repairs: tuple[Repair, ...] = ()
    refutes: tuple[str, ...] = ()  # assumptions, in the words of other questions, that this conflict shows to be wrong
    lacks_number: bool = False  # undecided, as a number is not stated, of what nobody wrote as a promise
    environments: tuple[str, ...] = ()  # in which of several it is the answer; none where it is in all

    @property
    def fingerprint(self) -> str:
        """Returns what identifies the finding under moved lines and reordered files: code, names and verdict."""
        return fingerprint_of(self.code, self.verdict, self.of, self.environments)

    def refuting(self, *assumptions: str) -> Finding:
        """Returns this conflict with assumptions that it shows to be wrong: no proof that makes one stands."""
        return replace(self, refutes=assumptions)


def fingerprint_of(code: str, verdict: str, of: Iterable[str], environments: Iterable[str]) -> str:
    """Returns what identifies a finding: its code, verdict, names, and environments where it is not in all."""
    import hashlib

    text = "\x1f".join((code, verdict, *sorted(of), *(f"in {name}" for name in sorted(environments))))
    return hashlib.sha256(text.encode(errors="surrogatepass")).hexdigest()[:16]


def environments_within(of: tuple[str, ...], chosen: frozenset[str]) -> tuple[str, ...] | None:
    """Returns those of a finding's environments that are looked at, none where it is in each; None of none of them."""
    own = tuple(name for name in of if name in chosen)
    return None if of and not own else () if chosen.issubset(own) else own


@dataclass(frozen=True)
class Accounting:
    """The policies and promises that were checked, and every pair of policies counted once by what is known of it.

    `not_modelled`: pairs that share a thing and that no question is about; `unrelated`: pairs that share nothing.
    Promises are counted in all and by their answers; one that no selected question answers has none.  `unanswered`:
    designs about which no question has an answer, but notes at most.  `cut_short`: designs about which a limit of time
    or memory, or Ctrl-C, ended a search.
    """

    loops: int = 0
    calls: int = 0
    timers: int = 0
    limits: int = 0
    promises: int = 0
    promises_conflict: int = 0
    promises_proved: int = 0
    promises_undecided: int = 0
    promises_vacuous: int = 0
    conflict: int = 0
    safe: int = 0
    undecided: int = 0
    not_modelled: int = 0
    unrelated: int = 0
    designs: int = 0
    unanswered: int = 0
    cut_short: int = 0

    @property
    def policies(self) -> int:
        """Returns the number of all policies: loops, calls, timers and limits."""
        return self.loops + self.calls + self.timers + self.limits

    def __add__(self, other: Accounting) -> Accounting:
        """Returns the sums of all counts."""
        return Accounting(*(getattr(self, f.name) + getattr(other, f.name) for f in fields(self)))

    @property
    def pairs(self) -> int:
        """All pairs of policies."""
        return self.conflict + self.safe + self.undecided + self.not_modelled + self.unrelated


@dataclass(frozen=True)
class NotRead:
    """A value that no answer was computed from: its entry (`limits`, `buffer`), its key, and the reason.

    `counts`: it touches what an answer speaks of, or it is of a promise, limit or timer that no answer is about.
    """

    place: Place
    section: str
    entry: str
    key: str
    reason: str
    counts: bool = False

    @cached_property
    def order(self) -> tuple[object, ...]:
        """Returns what such values are sorted by: where they stand; known once, for an edit leaves most of them."""
        return (self.place.file, self.place.line, self.place.column, self.section, self.entry, self.key)

    @property
    def path(self) -> str:
        """Returns `limits.buffer.when_full`; of a setting its own words."""
        return ".".join(word for word in (self.section, self.entry, self.key) if word and word != SETTING)


SETTING = "settings"  # the section of what a manifest says and no importer reads


def setting(place: Place, text: str) -> NotRead:
    """Returns the line about something of a manifest that no importer reads."""
    return NotRead(place, SETTING, "", text, "outside the model")


@dataclass(frozen=True)
class InputFile:
    """A file that was read, with its bytes (or their SHA-256 in hexadecimal)."""

    path: str
    content: bytes | str

    @property
    def sha256(self) -> str:
        """Returns the SHA-256 of the bytes, in hexadecimal."""
        if isinstance(self.content, str):
            return self.content
        import hashlib  # OpenSSL takes 3 ms to load, and most outputs show no hash

        return hashlib.sha256(self.content).hexdigest()


@dataclass(frozen=True)
class SkippedFile:
    """A file of a folder that was not read: its kind, for counting, and the reason or the remedy."""

    path: str
    kind: str
    reason: str


@dataclass(frozen=True)
class ChangedPolicy:
    """An entry of a design that differs from an earlier one: `added`, `changed` or `removed`, and where it stands."""

    how: str
    section: str
    name: str
    place: Place


@dataclass(frozen=True)
class GoneFinding:
    """A finding about an earlier state that is not found any more."""

    code: str
    verdict: str
    of: tuple[str, ...]
    count: int


@dataclass(frozen=True)
class Since:
    """What changed since an earlier state of the files, and what that did to the findings.

    `left`: `commit` is where today's branch left `ref`.  `files` -> the lines of today that differ (none of a file that
    was removed).  `unread`: why the earlier state could not be checked, so that every finding counts as new.
    """

    ref: str
    commit: str
    left: bool
    files: Mapping[str, frozenset[int]]
    policies: tuple[ChangedPolicy, ...] = ()
    known: int = 0
    gone: tuple[GoneFinding, ...] = ()
    unread: str = ""


@dataclass(frozen=True)
class OpenPromises:
    """How many default promises of one kind are not decided, and what number they need, in words (`a load`)."""

    kind: str
    needs: str
    number: int


@dataclass(frozen=True)
class Report:
    """The one list behind all outputs.  `sources` maps a path to its text, for the carets.

    `suppressed` are findings that a comment with a reason silenced; `not_modelled` are lines about
    input that was read and understood as outside the model (for example a manifest field); `skipped` are
    files of a folder that were not read; `open_promises` count what nobody wrote and no number decides.  With a
    baseline `known` are the findings that stand in it, and `gone` counts those that are not found any more; `since` is
    the change that is looked at, and the findings that stood before it are `known` as well.
    """

    findings: tuple[Finding, ...]
    accounting: Accounting
    inputs: tuple[InputFile, ...]
    sources: Mapping[str, str] = field(default_factory=dict)
    suppressed: tuple[Finding, ...] = ()
    not_read: tuple[NotRead, ...] = ()
    assumptions: tuple[str, ...] = ()
    seed: int = 0
    known: tuple[Finding, ...] = ()
    gone: int | None = None
    since: Since | None = None
    skipped: tuple[SkippedFile, ...] = ()
    open_promises: tuple[OpenPromises, ...] = ()


@dataclass(frozen=True)
class QuestionPage:
    """What `explain` and `rules` show of one code; filled from the docstring of the module that owns it."""

    code: str
    slug: str
    summary: str
    page: str  # Markdown: What / Why it hurts / Example / Instead / Source
    module: str
    domain: str = ""
