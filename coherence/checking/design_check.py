"""Asks every question about a design, re-checks the repairs, and accounts for every pair of policies."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from coherence.base.clock import is_over, left_until, now, recorded_cuts
from coherence.base.errors import CoherenceError, InputError, Problem
from coherence.base.reads import recorded
from coherence.base.watchdog import WHOLE, current_run, many_limits, run_limit
from coherence.checking.answers import ModuleAnswer, ask_once, bases, carry_over, marked, not_asked
from coherence.checking.manifest_slices import own_sources
from coherence.checking.slicing import Names, Piece, clashes, pieces, same_entries, whole
from coherence.checking.unread_values import joined
from coherence.checking.weighing import weighed, weighed_absences
from coherence.findings.accounting import account
from coherence.findings.design_answers import Answers, order_key, passes
from coherence.findings.finding import Finding, NotRead, Verdict
from coherence.findings.not_read import Basis, Entry, Reasons, basis, readers, without
from coherence.findings.question_input import Subject, details_unasked, repairs_unasked
from coherence.findings.registry import QuestionModule, question_modules
from coherence.language import names
from coherence.language.design import Design
from coherence.model.independent_parts import units_of

if TYPE_CHECKING:
    from coherence.checking.alike import Spelling
    from coherence.findings.edited_designs import Rebuild


@dataclass(frozen=True)
class Options:
    """What is asked: prefixes of codes, seconds for one question, and whether repairs are re-checked.

    `thorough`: repairs and blame are searched with questions that execute loops as well, which takes longer.
    `share`: of pieces that are alike two are asked, and the readings of the others are not known.
    `whole`: limits of one question that the whole run may take.
    """

    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    time_limit: float = 20.0
    verify_repairs: bool = True
    thorough: bool = False
    share: bool = True
    whole: float = WHOLE

    def modules(self) -> list[QuestionModule]:
        """Returns the modules that own a chosen code, those first whose answers are cheap."""
        chosen = (m for m in question_modules() if any(self.wants(question.code) for question in m.questions))
        return sorted(chosen, key=lambda module: any(question.slow for question in module.questions))

    def wants(self, code: str) -> bool:
        """Returns whether findings with the code are asked for."""
        return passes(code, self.select, self.ignore)

    @property
    def everything(self) -> bool:
        """Returns whether every question is asked."""
        return not (self.select or self.ignore)

    def reasons(self) -> Reasons:
        """Returns why values are not read."""
        words = "no question" if self.everything else "none of the chosen questions"
        return Reasons(f"{words} answers about it", f"{words} answers by it")


DEFAULT = Options()


@dataclass(frozen=True)
class PieceAnswers:
    """A piece of a design, what the question modules said about it, and the findings with their repairs."""

    piece: Piece
    unrepaired: tuple[Finding, ...]
    findings: tuple[Finding, ...] = ()
    cut_short: bool = False
    not_read: tuple[NotRead, ...] = ()


Known = Mapping[Names, PieceAnswers]


@dataclass(frozen=True)
class Analysis:
    """The answers about a design, piece by piece: what an analysis of the edited design need not ask again."""

    design: Design
    answers: Answers
    options: Options
    pieces: Known


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
    """Returns the findings of every question that `select` and `ignore` (prefixes of codes) leave."""
    options = Options(tuple(select), tuple(ignore), time_limit, verify_repairs, thorough)
    return analysis(design, sources, rebuild, options=options).answers


def analysis(
    design: Design, sources: Mapping[str, str], rebuild: Rebuild, *, options: Options = DEFAULT, cut: bool = True
) -> Analysis:
    """Returns the answers with what `reanalyse` needs.  `cut=False` asks about the whole design in one piece."""
    parts = pieces(design, sources) if cut else (whole(design),)
    with run_limit(options.whole * options.time_limit):
        return _joined(design, sources, rebuild, options, parts, {})


def reanalyse(previous: Analysis, design: Design, sources: Mapping[str, str], rebuild: Rebuild) -> Analysis:
    """Returns the analysis of an edited design; only the pieces with entries that are other objects are asked again.

    `reread` gives a design that shares all but the edited entries with the previous one.
    """
    parts = pieces(design, sources, {name: known.piece for name, known in previous.pieces.items()})
    with run_limit(previous.options.whole * previous.options.time_limit):
        return _joined(design, sources, rebuild, previous.options, parts, previous.pieces)


def _joined(
    design: Design, sources: Mapping[str, str], rebuild: Rebuild, options: Options, parts: Sequence[Piece], known: Known
) -> Analysis:
    fresh = [part for part in parts if part.names not in known or not same_entries(known[part.names].piece, part)]
    taken = frozenset(names.things(design)) if fresh else frozenset()

    def ask(chosen: Sequence[Piece]) -> list[PieceAnswers]:
        with nullcontext() if options.verify_repairs else repairs_unasked():
            asked = ask_pieces(chosen, known, sources, options)
        end = now() + min(current_run().left, options.whole * options.time_limit)
        return [_repaired(answers, sources, (design, rebuild), options, taken, end) for answers in asked]

    fresh_answers = _shared(fresh, Subject(design, sources), ask, taken) if options.share else ask(fresh)
    every = {**known, **{answers.piece.names: answers for answers in fresh_answers}}
    answered = {part.names: every[part.names] for part in parts}
    findings = tuple(_unique(f for answers in answered.values() for f in answers.findings))
    with recorded() as reads:
        reviewed = tuple(_reviewed(Subject(design, sources), findings, options))
    if any(f.evidence.cut_short for f in findings):
        reviewed = tuple(map(marked, reviewed))
    ordered = tuple(sorted((*findings, *reviewed), key=order_key))
    outside = tuple(f"{name} is outside the design: its signals may take any value" for name in names.outside(design))
    cut_short = any(answers.cut_short for answers in answered.values())
    unread = without(joined([answers.not_read for answers in answered.values()]), basis(design, reads, reviewed))
    counted = account(design, ordered)
    unanswered = counted.unanswered if options.everything else 0
    counted = replace(counted, unanswered=unanswered, cut_short=int(cut_short))
    answers = Answers(ordered, counted, outside, cut_short, unread)
    return Analysis(design, answers, options, answered)


def _shared(
    parts: Sequence[Piece], subject: Subject, ask: Callable[[Sequence[Piece]], list[PieceAnswers]],
    taken: frozenset[str],
) -> list[PieceAnswers]:  # fmt: skip
    """Returns the answers about each piece: of those that are alike the first and the last are asked.

    Where these answer alike, what they answer is written with the names and places of the others.
    """
    groups: list[list[Spelling]] = []
    if sum(bool(part.objects) for part in parts) > 2:
        from coherence.checking.alike import alike

        groups = alike(parts, subject)
    if not groups:
        return ask(parts)
    between = {spelling.number for group in groups for spelling in group[1:-1]}
    numbers = [number for number in range(len(parts)) if number not in between]
    answers = dict(zip(numbers, ask([parts[number] for number in numbers]), strict=True))
    for group in groups:
        answers |= _written(group, answers, parts, taken)
    left = [number for number in range(len(parts)) if number not in answers]
    rest = ask([parts[number] for number in left]) if left else []
    return list((answers | dict(zip(left, rest, strict=True))).values())


def _written(
    group: Sequence[Spelling], answers: Mapping[int, PieceAnswers], parts: Sequence[Piece], taken: frozenset[str]
) -> dict[int, PieceAnswers]:  # fmt: skip
    """Returns the answers about pieces that are alike, but the first and the last, which are known."""
    first, *others, last = group
    both = [(one, answers[one.number]) for one in (first, last)]
    known, same = (spelling.stripped((own.findings, own.not_read)) for spelling, own in both)
    if known != same or any(own.cut_short for _, own in both):
        return {}
    written = {}
    for spelling in others:
        findings, unread = spelling.written(known)
        if not any(clashes(repair, taken) for finding in findings for repair in finding.repairs):
            written[spelling.number] = PieceAnswers(parts[spelling.number], (), findings, not_read=unread)
    return written


def answered_from(answered: Known, options: Options) -> list[Basis]:
    """Returns what the findings about each piece were computed from."""
    return [one for answers in answered.values() for one in bases(answers.piece.design, options.modules())]


def readers_of(analysis: Analysis) -> Mapping[Entry, tuple[str, ...]]:
    """Returns the codes of the questions that have read something of each entry and answered about it."""
    return readers(analysis.design, answered_from(analysis.pieces, analysis.options))


def _reviewed(subject: Subject, answers: Sequence[Finding], options: Options) -> Iterator[Finding]:
    """Yields what the answers themselves give rise to; of a selection of questions nothing can be said."""
    if options.everything:
        for module in question_modules():
            yield from module.review(subject, answers) if module.review is not None else ()


def _repaired(
    answers: PieceAnswers, sources: Mapping[str, str], reading: tuple[Design, Rebuild], options: Options,
    taken: frozenset[str], end: float,
) -> PieceAnswers:  # fmt: skip
    own = [_own_place_first(finding, sources) for finding in answers.unrepaired if options.wants(finding.code)]
    conflicts = any(finding.verdict is Verdict.CONFLICT for finding in own)
    if not (conflicts and options.verify_repairs and current_run().left):
        return replace(answers, findings=tuple(replace(f, repairs=()) for f in own))
    from coherence.checking.repair.blame import blamed
    from coherence.checking.repair.rechecks import RecheckContext as Rechecked
    from coherence.checking.repair.rechecks import with_repairs

    free = [replace(f, repairs=tuple(r for r in f.repairs if not clashes(r, taken))) for f in own]
    piece, (design, rebuild) = answers.piece, reading
    texts: Mapping[str, str] | None = sources
    if piece.objects and piece.cut and any(finding.verdict is Verdict.CONFLICT for finding in free):
        texts = own_sources(piece.design, sources, piece.objects, rebuild)
    if texts is None:
        return replace(answers, findings=tuple(replace(f, repairs=()) for f in own))
    again = _again(piece, design, texts, rebuild, end)
    subject = Subject(piece.design, texts, options.time_limit)

    def ask_again(edited: Subject, modules: Iterable[QuestionModule]) -> list[Finding]:
        if is_over(end):
            raise CoherenceError("the time for repairs is over")
        carry_over(piece.design, edited.design)
        chosen = list(modules)
        findings = tuple(finding for module in chosen for finding in ask_once(edited, module).findings)
        return list(weighed(replace(piece, design=edited.design), findings, chosen, options.reasons())[0])

    def absences_again(edited: Subject, modules: Iterable[QuestionModule]) -> list[Finding]:
        own = replace(piece, design=edited.design)
        return weighed_absences(own, edited, modules, options.modules(), options.reasons())

    context = Rechecked(subject, again, options.modules(), free, ask_again, absences_again)
    with recorded_cuts() as cuts, repairs_unasked():  # of an edited design nobody reads what would mend it
        context = replace(context, findings=blamed(context, thorough=options.thorough))
        with details_unasked():
            repaired = tuple(with_repairs(context, thorough=options.thorough))
    return replace(answers, findings=repaired, cut_short=answers.cut_short or cuts.happened)


def _again(piece: Piece, design: Design, sources: Mapping[str, str], rebuild: Rebuild, end: float) -> Rebuild:
    """Returns what reads a piece of a design after an edit of the texts that hold it, until `end`."""
    from coherence.checking.rereading import reread

    by_hand = sources == {design.file: design.text} and not design.imported
    alone = len(piece.members) == len(units_of(design)) or design.imported

    def again(edited: Mapping[str, str]) -> Design:
        if is_over(end):
            raise CoherenceError("the time for repairs is over")
        after = reread(design, edited[design.file]) if by_hand else rebuild(edited)
        return after if alone else piece.after(design, after)

    return again


def _unique(findings: Iterable[Finding]) -> Iterator[Finding]:
    """Yields each finding once: entries that are no units belong to every piece, and are answered in each."""
    seen: dict[tuple[str, str], list[Finding]] = {}
    for finding in findings:
        same = seen.setdefault((finding.code, finding.message), [])
        if finding not in same:
            same.append(finding)
            yield finding


def _own_place_first(finding: Finding, sources: Mapping[str, str]) -> Finding:
    """Returns the finding with places in the reader's own files first, before those of a part's defaults."""
    return replace(finding, places=tuple(sorted(finding.places, key=lambda place: place.file not in sources)))


@many_limits()
def ask_pieces(
    parts: Sequence[Piece], known: Known, sources: Mapping[str, str], options: Options
) -> list[PieceAnswers]:  # fmt: skip
    """Returns the answers about each piece.  A question has the time limit for all of them together.

    Of a piece that was edited only those modules are asked that read what was edited.  Raises InputError.
    """
    for part in parts:
        if part.names in known:
            carry_over(known[part.names].piece.design, part.design)
    subjects = [Subject(part.design, sources, options.time_limit) for part in parts]
    answers: list[list[ModuleAnswer]] = [[] for _ in parts]
    problems: list[Problem] = []
    modules, run = options.modules(), current_run()
    for number, module in enumerate(modules):
        if subjects and not run.left:
            answers[0].append(not_asked(modules[number:], subjects))
            break
        run.announce(number / len(modules), f"asking {module.questions[0].slug}")
        end = now() + options.time_limit
        for place, (subject, own) in enumerate(zip(subjects, answers, strict=True)):
            if place and not run.left:
                answers[0].append(not_asked([module], subjects[place:]))
                break
            left = max(left_until(end), 0.0)
            try:
                own.append(ask_once(replace(subject, time_limit=left) if len(subjects) > 1 else subject, module))
            except InputError as error:
                problems += error.problems
    if problems:
        raise InputError(dict.fromkeys(problems))
    return [_piece_answers(part, own, options) for part, own in zip(parts, answers, strict=True)]


def _piece_answers(piece: Piece, answers: Sequence[ModuleAnswer], options: Options) -> PieceAnswers:
    every = tuple(f for answer in answers for f in answer.findings)
    findings, unread = weighed(piece, every, options.modules(), options.reasons())
    return PieceAnswers(piece, findings, cut_short=any(answer.cut_short for answer in answers), not_read=unread)


__all__ = ["Analysis", "Answers", "Options", "analyse", "analysis", "reanalyse"]
