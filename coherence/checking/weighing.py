"""Asks question modules about a design, and takes back each proof that an entry which nothing read may overturn."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from coherence.base.reads import unnoted
from coherence.checking.answers import ask_once, bases
from coherence.checking.independent_parts import units_of
from coherence.checking.slicing import Piece
from coherence.checking.unread_values import unread_values
from coherence.findings.finding import Finding, NotRead
from coherence.findings.not_read import Reasons
from coherence.findings.question_input import Subject
from coherence.findings.registry import QuestionModule, question_modules
from coherence.findings.standing_proofs import standing

NO_QUESTION = Reasons("no question answers about it", "no question answers by it")


def ask_weighed(subject: Subject, modules: Iterable[QuestionModule]) -> list[Finding]:
    """Returns every finding about a whole design, its proofs weighed.  Raises InputError."""
    chosen = tuple(modules)
    findings = tuple(finding for module in chosen for finding in ask_once(subject, module).findings)
    return list(weighed(Piece(units_of(subject.design), subject.design), findings, chosen, NO_QUESTION)[0])


def weighed(
    piece: Piece, findings: tuple[Finding, ...], modules: Sequence[QuestionModule], reasons: Reasons
) -> tuple[tuple[Finding, ...], tuple[NotRead, ...]]:
    """Returns the findings without the proofs that an unread entry takes back, and the values that are not read.

    Where only some questions were asked, what they did not read may be read by others, and every proof stands.
    """
    with unnoted():
        unread = unread_values(piece, bases(piece.design, modules), reasons)
        everything = len(modules) == len(question_modules())
        return standing(piece.design, findings, unread) if everything else findings, unread
