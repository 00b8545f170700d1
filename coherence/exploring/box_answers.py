"""Asks the questions about boxes of values: here, in other processes or on a cluster, and keeps the answers in a file.

What is answered of a box depends on the design, the questions, their time limit and the box alone, so it is the same
whoever asks, and where work that was stopped goes on from its file.  An answer that a clock cut short is not kept.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from fractions import Fraction
from functools import lru_cache, partial
from pathlib import Path
from typing import Any

from coherence.base import units
from coherence.base.errors import CoherenceError, InputError, UsageError
from coherence.base.jobs import HERE, WorkerPool, finished
from coherence.base.kept_results import KeptResults, digest_of
from coherence.base.places import Place
from coherence.base.reads import note_places, recorded
from coherence.base.version import VERSION
from coherence.checking.answers import ask_once
from coherence.checking.repair.rechecks import Key, key_of
from coherence.checking.weighing import ask_weighed
from coherence.exploring.swept_numbers import Axis
from coherence.findings.edited_designs import Rebuild, edited_subject
from coherence.findings.finding import Edit, Finding, Grade, Verdict
from coherence.findings.question_input import Subject
from coherence.findings.registry import QuestionModule, question_modules

Box = tuple[tuple[Fraction, Fraction], ...]  # for each axis its ends (SI)
WordedConflict = tuple[Key, str]  # a conflict and its words
KINDS = ("certain", "possible", "proved", "undecided")
FindingRow = tuple[str, Key, str]  # one of KINDS, whom it is about, its words


@dataclass(frozen=True)
class RegionAnswer:
    """What the questions say of one box or point; `taken_back` are proofs that an unread entry may overturn."""

    certain: frozenset[Key] = frozenset()
    possible: frozenset[Key] = frozenset()
    proved: frozenset[Key] = frozenset()
    undecided: frozenset[Key] = frozenset()
    worded: frozenset[WordedConflict] = frozenset()
    refused: str = ""
    taken_back: frozenset[Key] = frozenset()

    @property
    def conflict(self) -> bool:
        return bool(self.certain or self.possible or self.refused)

    def unproved(self, keys: Iterable[Key]) -> frozenset[Key]:
        """Returns the questions that are not answered `proved` about these policies, or more of them."""
        return frozenset(
            (code, of) for code, of in keys if not any(code == c and set(of) <= set(names) for c, names in self.proved)
        )


@dataclass(frozen=True)
class BoxAnswer:
    """The findings about a box, the questions that proved something before that was weighed, and what was read."""

    rows: tuple[FindingRow, ...] = ()
    proved: frozenset[Key] = frozenset()
    refused: str = ""
    places: tuple[Place, ...] = ()
    cut_short: bool = False

    def without(self, untouched: Collection[WordedConflict]) -> RegionAnswer:
        """Returns what they say of the box beside what is said of every box."""
        if self.refused:
            return RegionAnswer(refused=self.refused)
        weighed = _answer_of(row for row in self.rows if row[1:] not in untouched)
        return replace(weighed, taken_back=self.proved & weighed.undecided)


def answer(findings: Iterable[Finding]) -> RegionAnswer:
    """Returns the findings by what they say of all values."""
    return _answer_of(_rows(findings))


def _rows(findings: Iterable[Finding]) -> Iterator[FindingRow]:
    for finding in findings:
        kind = _kind(finding)
        if kind:
            yield kind, key_of(finding), finding.message


def _kind(finding: Finding) -> str:
    if finding.verdict is Verdict.CONFLICT:
        return "certain" if finding.certainty == "certain" else "possible"
    if finding.verdict is Verdict.VACUOUS:
        return "possible"
    if finding.verdict is Verdict.PROVED and finding.evidence.grade is Grade.PROVED:
        return "proved"
    return "" if finding.verdict is Verdict.NOTE else "undecided"


def _answer_of(rows: Iterable[FindingRow]) -> RegionAnswer:
    listed = tuple(rows)
    certain, possible, proved, undecided = (
        frozenset(key for own, key, _ in listed if own == kind) for kind in KINDS
    )  # fmt: skip
    worded = frozenset((key, words) for kind, key, words in listed if kind in ("certain", "possible"))
    return RegionAnswer(certain, possible, proved, undecided, worded)


@dataclass(frozen=True)
class BoxJob:
    """Asks about one box.  `subject`: the design; None in a process that reads it from its texts."""

    axes: tuple[Axis, ...]
    codes: tuple[str, ...]  # the first of each module that is asked
    sources: tuple[tuple[str, str], ...]
    time_limit: float
    subject: Subject | None = None
    rebuild: Rebuild | None = None
    environment: str = ""  # in which the design is read from its texts

    def __call__(self, box: Box) -> BoxAnswer:
        """Returns what the questions say of the box.  Raises UsageError where a value cannot be written."""
        with recorded() as reads:
            own = self._answered([edit_of(axis, ends) for axis, ends in zip(self.axes, box, strict=True)])
        return replace(own, places=tuple(sorted(reads.all())))

    def _answered(self, edits: Sequence[Edit]) -> BoxAnswer:
        subject, modules = (
            self.subject or _subject(self.sources, self.time_limit, self.environment),
            modules_of(self.codes),
        )
        try:
            edited = edited_subject(subject, edits, self.rebuild or partial(_design, environment=self.environment))
            findings = ask_weighed(edited, modules) if edited is not None else []
        except (InputError, CoherenceError) as error:
            return BoxAnswer(refused=str(error).split("\n", maxsplit=1)[0])
        if edited is None:
            raise UsageError("a key is quoted or stands on several lines: write it as a plain number")
        answers = [ask_once(edited, module) for module in modules]
        proved = answer(finding for one in answers for finding in one.findings).proved
        return BoxAnswer(tuple(_rows(findings)), proved, cut_short=any(one.cut_short for one in answers))


def modules_of(codes: Collection[str]) -> tuple[QuestionModule, ...]:
    """Returns the question modules whose first codes these are."""
    return tuple(module for module in question_modules() if module.questions[0].code in codes)


@lru_cache(maxsize=2)
def _subject(sources: tuple[tuple[str, str], ...], time_limit: float, environment: str) -> Subject:
    return Subject(_design(dict(sources), environment), dict(sources), time_limit)


def _design(sources: Mapping[str, str], environment: str = "") -> Any:
    from coherence.importers import design_from_texts

    return design_from_texts(sources, environment)


class BoxAnswers:
    """The answers about boxes that are known; who gives the others, and the file that keeps them if there is one."""

    def __init__(self, job: BoxJob, workers: WorkerPool = HERE, file: Path | None = None) -> None:
        self.workers = workers
        self._job = replace(job, subject=None, rebuild=None) if workers.elsewhere else job
        keys, limit = [axis.key for axis in job.axes], job.time_limit
        head = {"coherence_region": 1, "version": VERSION, "design_sha256": digest_of(dict(job.sources)), "keys": keys}
        head |= {"environment": job.environment} if job.environment else {}
        self._kept = KeptResults(file, {**head, "codes": list(job.codes), "time_limit": limit}, "region")
        rows = (_from_row(row) for row in self._kept.rows)
        self._known = dict(row for row in rows if row is not None and len(row[0]) == len(keys))

    def get(self, box: Box) -> BoxAnswer:
        """Returns what is said of a box."""
        self.fetch([box])
        note_places(self._known[box].places)
        return self._known[box]

    def knows(self, box: Box) -> bool:
        """Returns whether the answer about a box is there."""
        return box in self._known

    def fetch(self, boxes: Iterable[Box]) -> None:
        """Asks about the boxes of which nothing is known yet, at once."""
        missing = [box for box in dict.fromkeys(boxes) if box not in self._known]
        for number, own in finished(self._job, missing, self.workers) if missing else ():
            self._known[missing[number]] = own
            if not own.cut_short:
                self._kept.add(_row(missing[number], own))


def _row(box: Box, own: BoxAnswer) -> dict[str, Any]:
    return {
        "box": [[str(end) for end in ends] for ends in box],
        "rows": [[kind, *key, words] for kind, key, words in own.rows],
        "proved": sorted(own.proved),
        "refused": own.refused,
        "places": [list(asdict(place).values()) for place in own.places],
    }


def _from_row(row: Mapping[str, Any]) -> tuple[Box, BoxAnswer] | None:
    """Returns a box and its answer from JSON; None where a line was damaged, and the box is asked about again."""
    try:
        box = tuple((Fraction(low), Fraction(high)) for low, high in row["box"])
        rows = tuple((str(kind), _key(code, of), str(words)) for kind, code, of, words in row["rows"])
        proved = frozenset(_key(code, of) for code, of in row["proved"])
        own = BoxAnswer(rows, proved, str(row["refused"]), tuple(Place(*place) for place in row["places"]))
    except (KeyError, TypeError, ValueError, ZeroDivisionError):
        return None
    return None if any(kind not in KINDS for kind, _, _ in rows) else (box, own)


def _key(code: object, of: Iterable[object]) -> Key:
    return str(code), tuple(map(str, of))


def edit_of(axis: Axis, ends: tuple[Fraction, Fraction]) -> Edit:
    """Returns the change of the text that gives the key this value, or this range."""
    texts = [spelled(axis, end) for end in dict.fromkeys(ends)]
    return Edit(axis.scalar.place, axis.scalar.text, " .. ".join(texts))


def spelled(axis: Axis, number: Fraction) -> str:
    """Returns a value with all its digits, in the unit of the key.  Raises UsageError where it has no end."""
    factor = units.unit(axis.unit)[0] if axis.unit else Fraction(1)
    for size, unit in ((factor, axis.unit), (Fraction(1), "s" if axis.dimension == units.SECOND else axis.unit)):
        digits = next((d for d in range(40) if (number / size * 10**d).denominator == 1), None)
        if digits is not None:
            scaled = int(number / size * 10**digits)
            whole, part = divmod(abs(scaled), 10**digits)
            sign = "-" if scaled < 0 else ""
            return f"{sign}{whole}{f'.{part:0{digits}d}' if digits else ''} {unit}".strip()
    raise UsageError(f"{axis.key}: an end of its range has no end in {axis.unit}; give it in that unit")
