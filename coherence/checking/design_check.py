"""Asks every question about a design, re-checks the repairs, and accounts for every pair of policies."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from coherence.base.clock import record_cut, recorded_cuts, wall_is_over, wall_left_until
from coherence.base.errors import CoherenceError, InputError, Problem
from coherence.checking.repair.blame import blamed
from coherence.checking.repair.rechecks import Asked as Rechecked
from coherence.checking.repair.rechecks import Rebuild, with_repairs
from coherence.checking.rereading import reread
from coherence.checking.slicing import Names, Piece, clashes, moved, pieces, same_entries, whole
from coherence.checking.tracing import changed, reads, watched
from coherence.findings.accounting import account
from coherence.findings.finding import Accounting, Evidence, Finding, Grade, Severity, Verdict
from coherence.findings.question_input import Subject
from coherence.findings.registry import QuestionModule, question_modules
from coherence.language import names
from coherence.language.design import Design
from coherence.language.expressions.evaluate import NotExactError


@dataclass(frozen=True)
class Answers:
    """All findings about one design, and the accounting of its pairs.

    `cut_short`: a time limit ended a search for one of them, or for a repair; another run may answer otherwise.
    """

    findings: tuple[Finding, ...]
    accounting: Accounting
    assumptions: tuple[str, ...]
    cut_short: bool = False


@dataclass(frozen=True)
class Options:
    """What is asked: prefixes of codes, seconds for one question, and whether repairs are re-checked.

    `thorough`: repairs and blame are searched with questions that execute loops as well, which takes longer.
    """

    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    time_limit: float = 20.0
    verify_repairs: bool = True
    thorough: bool = False

    def modules(self) -> list[QuestionModule]:
        """The modules that own a chosen code."""
        return [
            module for module in question_modules() if any(self.wants(question.code) for question in module.questions)
        ]

    def wants(self, code: str) -> bool:
        """Is the code asked for?"""
        return passes(code, self.select, self.ignore)


DEFAULT = Options()
REPAIRS = 3  # times the limit of one question, for the repairs of a design: beyond it they are not re-checked


@dataclass(frozen=True)
class Asked:
    """What one question module said about a piece, and the fields of the design that it read."""

    findings: tuple[Finding, ...]
    reads: frozenset[str]
    cut_short: bool = False


@dataclass(frozen=True)
class Done:
    """A piece of a design, what each question module said about it, and the findings with their repairs."""

    piece: Piece
    asked: Mapping[str, Asked]
    findings: tuple[Finding, ...] = ()
    cut_short: bool = False


@dataclass(frozen=True)
class Analysis:
    """The answers about a design, piece by piece: what an analysis of the edited design need not ask again."""

    answers: Answers
    options: Options
    done: Mapping[tuple[object, ...], Done]


def analyse(  # noqa: PLR0913  (one parameter for each option)
    design: Design,
    sources: Mapping[str, str],
    rebuild: Rebuild,
    *,
    select: Sequence[str] = (),
    ignore: Sequence[str] = (),
    time_limit: float = 20.0,
    verify_repairs: bool = True,
    thorough: bool = False,
) -> Answers:
    """Every question that `select` and `ignore` (prefixes of codes) leave, answered."""
    options = Options(tuple(select), tuple(ignore), time_limit, verify_repairs, thorough)
    return analysis(design, sources, rebuild, options=options).answers


def analysis(
    design: Design, sources: Mapping[str, str], rebuild: Rebuild, *, options: Options = DEFAULT, cut: bool = True
) -> Analysis:
    """As `analyse`, with what `reanalyse` needs.  `cut=False` asks every question of the design in one piece."""
    parts = pieces(design, sources) if cut else (whole(design, sources),)
    return _joined(design, sources, rebuild, options, parts, {})


def reanalyse(previous: Analysis, design: Design, sources: Mapping[str, str], rebuild: Rebuild) -> Analysis:
    """The analysis of an edited design; only the pieces that the edit touched are asked again."""
    old = {done.piece.names: done.piece for done in previous.done.values()}
    parts = pieces(design, sources, old)
    return _joined(design, sources, rebuild, previous.options, parts, previous.done)


def _stands(piece: Piece, rebuild: Rebuild, before: Piece | None = None) -> bool:
    """Can the piece be read by itself?  Beside it, the piece before an edit, of which little has to be read again."""
    if not piece.total:
        return True  # it has the whole text
    if before is not None and before.total == piece.total:
        return piece.stands(lambda text: reread(before.alone(), text))
    return piece.stands(lambda text: rebuild({piece.design.file: text}))


def _known_still(piece: Piece, known: Mapping[tuple[object, ...], Done], rebuild: Rebuild) -> bool:
    """Are the answers about a piece of the same lines those about this one?

    Equal lines of two texts may say two things (an anchor elsewhere is another), unless both pieces stand.
    """
    if piece.key not in known:
        return False
    before = known[piece.key].piece
    return same_entries(before, piece) or (_stands(before, rebuild) and _stands(piece, rebuild))


def _joined(
    design: Design, sources: Mapping[str, str], rebuild: Rebuild, options: Options, parts: Sequence[Piece],
    known: Mapping[tuple[object, ...], Done],
) -> Analysis:  # fmt: skip
    kept = {part.key: _kept(known[part.key], part) for part in parts if _known_still(part, known, rebuild)}
    fresh = [part for part in parts if kept.get(part.key) is None]
    before = {done.piece.names: done for done in known.values()}
    made = ask_pieces([(part, before.get(part.names)) for part in fresh], sources, options)
    if options.verify_repairs and not all(_may_repair(one, before, rebuild) for one in made):
        return _joined(design, sources, rebuild, options, (whole(design, sources),), {})
    taken = frozenset(names.things(design)) if fresh else frozenset()
    end = time.monotonic() + REPAIRS * options.time_limit
    for one in made:
        kept[one.piece.key] = _repaired(one, sources, rebuild, options, taken, end)
    done = {part.key: found for part in parts if (found := kept[part.key]) is not None}
    answers = tuple(_once(f for one in done.values() for f in one.findings))
    reviewed = _reviewed(Subject(design, sources), answers, options)
    ordered = tuple(sorted((*answers, *reviewed), key=order_key))
    outside = tuple(f"{name} is outside the design: its signals may take any value" for name in names.outside(design))
    cut_short = any(one.cut_short for one in done.values())
    return Analysis(Answers(ordered, account(design, ordered), outside, cut_short), options, done)


def _reviewed(subject: Subject, answers: Sequence[Finding], options: Options) -> Iterator[Finding]:
    """Yields what the answers themselves give rise to; of a selection of questions nothing can be said."""
    if not (options.select or options.ignore):
        for module in question_modules():
            yield from module.review(subject, answers) if module.review is not None else ()


def _may_repair(done: Done, before: Mapping[Names, Done], rebuild: Rebuild) -> bool:
    """Can the piece be read by itself after an edit, where that will be done?"""
    conflicts = any(f.verdict is Verdict.CONFLICT for one in done.asked.values() for f in one.findings)
    old = before.get(done.piece.names)
    return not conflicts or _stands(done.piece, rebuild, old.piece if old is not None else None)


def _kept(done: Done, part: Piece) -> Done | None:
    """What is known of a piece whose lines are the same, perhaps with other numbers."""
    if part.numbers == done.piece.numbers and part.total == done.piece.total:
        return done
    findings = moved(done.findings, done.piece, part)
    return Done(part, {}, findings, done.cut_short) if findings is not None else None


def _repaired(
    done: Done, sources: Mapping[str, str], rebuild: Rebuild, options: Options, taken: frozenset[str], end: float
) -> Done:  # fmt: skip
    own = [_own_place_first(f, sources) for one in done.asked.values() for f in one.findings if options.wants(f.code)]
    if not options.verify_repairs:
        return replace(done, findings=tuple(replace(f, repairs=()) for f in own))
    free = [replace(f, repairs=tuple(r for r in f.repairs if not clashes(r, taken))) for f in own]
    piece = done.piece
    subject = Subject(piece.design, piece.sources(sources), options.time_limit)

    base = piece.alone() if piece.total else piece.design
    by_hand = subject.sources == {base.file: base.text} and not base.spelling

    def again(edited: Mapping[str, str]) -> Design:
        return reread(base, edited[base.file]) if by_hand else rebuild(edited)

    def ask_again(subject: Subject, chosen: Iterable[QuestionModule]) -> list[Finding]:
        if wall_is_over(end):
            raise CoherenceError("the time for repairs is over")
        other = changed(piece.design, subject.design)
        return [f for module in chosen for f in _unless_known(module, subject, done, other).findings]

    asked = Rechecked(subject, again, options.modules(), free, ask_again)
    with recorded_cuts() as cuts:
        asked = replace(asked, findings=blamed(asked, thorough=options.thorough))
        repaired = tuple(with_repairs(asked, thorough=options.thorough))
    return replace(done, findings=repaired, cut_short=done.cut_short or cuts.happened)


def _unless_known(module: QuestionModule, subject: Subject, done: Done, other: frozenset[str]) -> Asked:
    """The answer that is known where nothing that it read is different, else a new one."""
    known = done.asked.get(module.name)
    return known if known is not None and not known.reads & other else _asked(module, subject)


def _once(findings: Iterable[Finding]) -> Iterator[Finding]:
    """Each finding once: what is no unit belongs to every piece, and is answered in each."""
    seen: dict[tuple[str, str], list[Finding]] = {}
    for finding in findings:
        same = seen.setdefault((finding.code, finding.message), [])
        if finding not in same:
            same.append(finding)
            yield finding


def _own_place_first(finding: Finding, sources: Mapping[str, str]) -> Finding:
    """The reader's own lines lead; the places of a part's defaults come after them."""
    return replace(finding, places=tuple(sorted(finding.places, key=lambda place: place.file not in sources)))


def order_key(finding: Finding) -> tuple[object, ...]:
    """Errors first, then by place, code and names: the same order in every run."""
    rank = {Severity.ERROR: 0, Severity.WARNING: 1, Severity.INFO: 2}
    place = finding.places[0] if finding.places else None
    where = (place.file, place.line, place.column) if place else ("", 0, 0)
    return (rank[finding.severity], where, finding.code, finding.of, finding.verdict, finding.message)


def passes(code: str, select: Sequence[str], ignore: Sequence[str]) -> bool:
    """Is the code asked for?"""
    return (not select or any(code.startswith(p) for p in select)) and not any(code.startswith(p) for p in ignore)


def ask_all(subject: Subject, chosen: Iterable[QuestionModule]) -> list[Finding]:
    """Every answer; a question that cannot be carried out answers `undecided` with its reason."""
    return [finding for module in chosen for finding in _asked(module, subject).findings]


def ask_pieces(parts: Sequence[tuple[Piece, Done | None]], sources: Mapping[str, str], options: Options) -> list[Done]:
    """The answers about each piece.  A question has the time limit for all of them together.

    Beside a piece stands what is known of it from before an edit.
    """
    fresh = [(replace(part, design=watched(part.design)), before) for part, before in parts]
    subjects = [Subject(part.design, part.sources(sources), options.time_limit) for part, _ in fresh]
    others = [changed(before.piece.design, part.design) if before else frozenset() for part, before in fresh]
    found: list[dict[str, Asked]] = [{} for _ in fresh]
    problems: list[Problem] = []
    for module in options.modules():
        end = time.monotonic() + options.time_limit
        for (_, before), subject, other, made in zip(fresh, subjects, others, found, strict=True):
            left = wall_left_until(end)
            limited = replace(subject, time_limit=max(left, 0.0)) if len(subjects) > 1 else subject
            try:
                made[module.name] = _unless_known(module, limited, before, other) if before else _asked(module, limited)
            except InputError as error:
                problems += error.problems
    if problems:
        raise InputError(dict.fromkeys(problems))
    return [
        Done(part, made, cut_short=any(one.cut_short for one in made.values()))
        for (part, _), made in zip(fresh, found, strict=True)
    ]


def _asked(module: QuestionModule, subject: Subject) -> Asked:
    with recorded_cuts() as cuts:
        findings, read = reads(subject.design, lambda: tuple(_said(module, subject)))
    unclear = cuts.happened and not (findings and all(f.verdict.decides for f in findings))
    return Asked(tuple(_marked(f) for f in findings) if unclear else findings, read, cut_short=unclear)


def _marked(finding: Finding) -> Finding:
    """Returns the finding with a sign that a time limit cut its search short; what is decided stays as it is."""
    if finding.verdict.decides:
        return finding
    return replace(finding, evidence=replace(finding.evidence, cut_short=True))


def _said(module: QuestionModule, subject: Subject) -> list[Finding]:
    found: list[Finding] = []
    if subject.time_limit <= 0:
        record_cut()
        return [_failed(module, subject, TimeoutError("the time limit of this question is over"))]
    try:
        found.extend(module.ask(subject))
    except InputError:
        raise
    except (NotExactError, CoherenceError, RecursionError, OverflowError) as error:
        found.append(_failed(module, subject, error))
    return found


def _failed(module: QuestionModule, subject: Subject, error: Exception) -> Finding:
    question = module.questions[0]
    places = tuple(loop.place for loop in list(subject.design.loops.values())[:1])
    reason = str(error) or type(error).__name__
    evidence = Evidence(Grade.BOUNDED, "not decided", bound=reason)
    return Finding(
        question.code,
        question.slug,
        Verdict.UNDECIDED,
        Severity.INFO,
        f"not decided: {reason}",
        places,
        tuple(subject.design.loops),
        evidence,
    )
