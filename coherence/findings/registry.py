"""Discovers the question modules: every public module of the engines' question folders claims one or more codes.

A question module has a docstring (What / Why it hurts / Example / Instead / Source), `QUESTIONS`
(the `Question`s it owns) and `ask(subject) -> iterable of findings`.  A module that judges the answers
of all others has `review(subject, findings) -> iterable of findings` instead, or beside it.  One that is silent where
nothing is wrong may have `absences(subject) -> iterable of proofs`, which only the re-check of a repair asks for.  No
list is edited: a new file in one of the folders is found by the package walk, and a code claimed twice is an error.
"""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from types import ModuleType

from coherence.base.errors import InternalError, UsageError, did_you_mean
from coherence.findings import suppressions
from coherence.findings.finding import Finding, QuestionPage
from coherence.findings.question_input import Question, Subject

FOLDERS = ("coherence.verify.patterns", "coherence.loops.checks")
FITTED = ("coherence.causal.checks",)  # asked of a design and its telemetry, by `coherence fit`


@dataclass(frozen=True)
class QuestionModule:
    """A question module: the codes it owns, how to ask it, and how it judges what the others answered.

    `absences`: proofs that what it looks for is not there, where `ask` has nothing to say.
    """

    name: str
    questions: tuple[Question, ...]
    ask: Callable[[Subject], Iterable[Finding]]
    page: str
    review: Callable[[Subject, Sequence[Finding]], Iterable[Finding]] | None = None
    absences: Callable[[Subject], Iterable[Finding]] | None = None


@cache
def question_modules() -> tuple[QuestionModule, ...]:
    """Returns all question modules, by code.  Raises InternalError where two claim one code."""
    return question_modules_of(FOLDERS)


def question_modules_of(folders: Iterable[str]) -> tuple[QuestionModule, ...]:
    """Returns the question modules of some folders, by code.  Raises InternalError where two claim one code."""
    modules = [
        _question_module(importlib.import_module(name)) for folder in folders for name in _public_modules(folder)
    ]
    owners: dict[str, str] = {}
    for module in modules:
        for question in module.questions:
            if question.code in owners:
                raise InternalError(f"{question.code} is claimed by {owners[question.code]} and {module.name}")
            owners[question.code] = module.name
    return tuple(sorted(modules, key=lambda module: module.questions[0].code))


def _public_modules(folder: str) -> list[str]:
    package = importlib.import_module(folder)
    walked = pkgutil.walk_packages(package.__path__, folder + ".")
    return [info.name for info in walked if not info.ispkg and not info.name.rsplit(".", 1)[1].startswith("_")]


def _question_module(module: ModuleType) -> QuestionModule:
    review = getattr(module, "review", None)
    ask = getattr(module, "ask", _nothing)
    page, absences = inspect.cleandoc(module.__doc__ or ""), getattr(module, "absences", None)
    return QuestionModule(module.__name__, module.QUESTIONS, ask, page, review, absences)


def _nothing(subject: Subject) -> tuple[Finding, ...]:
    """Returns no findings, for a module that only reviews those of others."""
    del subject
    return ()


def question_pages() -> tuple[QuestionPage, ...]:
    """Returns the page of every code."""
    modules = question_modules_of((*FOLDERS, *FITTED))
    pages = [_page(question, module.page, module.name) for module in modules for question in module.questions]
    text = inspect.cleandoc(suppressions.__doc__ or "")
    pages += [_page(question, text, suppressions.__name__) for question in suppressions.QUESTIONS]
    return tuple(sorted(pages, key=lambda page: page.code))


def _page(question: Question, text: str, module: str) -> QuestionPage:
    return QuestionPage(question.code, question.slug, text.split("\n", 1)[0], text, module, question.domain)


def require_known_codes(prefixes: Iterable[str]) -> None:
    """Raises UsageError where no code begins with one of the prefixes: such a selection would silence everything."""
    codes = [page.code for page in question_pages()] if prefixes else []
    for prefix in prefixes:
        if not any(code.startswith(prefix) for code in codes):
            raise UsageError(f"no code begins with '{prefix}': {did_you_mean(prefix, codes)}")
