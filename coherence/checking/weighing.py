"""Asks question modules about a design, and takes back each proof that something may overturn which it did not read."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from coherence.base.reads import unnoted
from coherence.checking.answers import absences, ask_once, bases, provers
from coherence.checking.slicing import Piece
from coherence.checking.unread_values import unread_values
from coherence.findings.finding import Finding, NotRead
from coherence.findings.not_read import Reasons
from coherence.findings.question_input import Subject
from coherence.findings.registry import QuestionModule, question_modules
from coherence.findings.standing_proofs import standing
from coherence.model.independent_parts import units_of

NO_QUESTION = Reasons("no question answers about it", "no question answers by it")


def ask_weighed(subject: Subject, modules: Iterable[QuestionModule]) -> list[Finding]:
    """Returns every finding about a whole design, its proofs weighed.  Raises InputError."""
    chosen = tuple(modules)
    findings = tuple(finding for module in chosen for finding in ask_once(subject, module).findings)
    return list(weighed(Piece(units_of(subject.design), subject.design), findings, chosen, NO_QUESTION)[0])


def absences_weighed(subject: Subject, modules: Iterable[QuestionModule]) -> list[Finding]:
    """Returns the proofs of these modules, about a whole design, that what they look for is not there, weighed."""
    return weighed_absences(
        Piece(units_of(subject.design), subject.design), subject, modules, question_modules(), NO_QUESTION
    )


def weighed_absences(
    piece: Piece, subject: Subject, modules: Iterable[QuestionModule], every: Sequence[QuestionModule], reasons: Reasons
) -> list[Finding]:
    """Returns the proofs that what these modules look for is not there, weighed where every module was asked."""
    modules = tuple(modules)
    proofs, known = tuple(absences(subject, modules)), subject.design.queries.rows
    if not proofs or any((ask_once, module.name) not in known for module in every):
        return list(proofs)
    with unnoted():
        named = _named(piece, every, reasons)[1]
        return list(standing(piece.design, proofs, provers(piece.design, modules, absences), named))


def weighed(
    piece: Piece, findings: tuple[Finding, ...], modules: Sequence[QuestionModule], reasons: Reasons
) -> tuple[tuple[Finding, ...], tuple[NotRead, ...]]:
    """Returns the findings without the proofs that something unread takes back, and the values that are not read.

    Where only some questions were asked, others may read what they did not: no proof names it.
    """
    with unnoted():
        unread, named = _named(piece, modules, reasons)
        return standing(piece.design, findings, provers(piece.design, modules), named), unread


def _named(
    piece: Piece, modules: Sequence[QuestionModule], reasons: Reasons
) -> tuple[tuple[NotRead, ...], tuple[NotRead, ...]]:
    """Returns the values that are not read, and those of them that proofs may name."""
    unread = unread_values(piece, bases(piece.design, modules), reasons)
    return unread, unread if len(modules) == len(question_modules()) else ()
