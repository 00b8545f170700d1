"""Discovery of questions: every module of the engines' question folders claims one or more codes.

A question module has a docstring (What / Why it hurts / Example / Instead / Source), `QUESTIONS`
(the `Question`s it owns) and `ask(subject) -> iterable of findings`.  No list is edited: a new file
in one of the folders is found by the package walk, and a code claimed twice is an error.
"""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache
from types import ModuleType

from coherence.base.errors import InternalError, UsageError, did_you_mean
from coherence.findings import suppressions
from coherence.findings.finding import Finding, Rule
from coherence.findings.question_input import Question, Subject

FOLDERS = ("coherence.verify.patterns", "coherence.loops.checks")
FITTED = ("coherence.causal.checks",)  # asked of a design and its telemetry, by `coherence fit`


@dataclass(frozen=True)
class Asker:
    """A question module: the codes it owns, and how to ask it."""

    name: str
    questions: tuple[Question, ...]
    ask: Callable[[Subject], Iterable[Finding]]
    page: str


@cache
def askers() -> tuple[Asker, ...]:
    """All question modules, by name.  Raises InternalError where two claim one code."""
    return askers_of(FOLDERS)


def askers_of(folders: Iterable[str]) -> tuple[Asker, ...]:
    """The question modules of some folders."""
    owners: dict[str, str] = {}
    found = []
    for folder in folders:
        package = importlib.import_module(folder)
        for info in pkgutil.walk_packages(package.__path__, folder + "."):
            if info.ispkg or info.name.rsplit(".", 1)[1].startswith("_"):
                continue
            found.append(_asker(importlib.import_module(info.name), owners))
    return tuple(sorted(found, key=lambda asker: asker.questions[0].code))


def _asker(module: ModuleType, owners: dict[str, str]) -> Asker:
    for question in module.QUESTIONS:
        if question.code in owners:
            raise InternalError(f"{question.code} is claimed by {owners[question.code]} and {module.__name__}")
        owners[question.code] = module.__name__
    return Asker(module.__name__, module.QUESTIONS, module.ask, inspect.cleandoc(module.__doc__ or ""))


def rules() -> tuple[Rule, ...]:
    """Every code with its page."""
    made = []
    for asker in askers_of((*FOLDERS, *FITTED)):
        summary = asker.page.split("\n", 1)[0]
        made += [Rule(q.code, q.slug, summary, asker.page, asker.name, q.domain) for q in asker.questions]
    page = inspect.cleandoc(suppressions.__doc__ or "")
    summary = page.split("\n", 1)[0]
    made += [Rule(q.code, q.slug, summary, page, suppressions.__name__, q.domain) for q in suppressions.QUESTIONS]
    return tuple(sorted(made, key=lambda rule: rule.code))


def known(prefixes: Iterable[str]) -> None:
    """Raises UsageError where no code begins with one of them: what selects nothing finds nothing."""
    codes = [rule.code for rule in rules()] if prefixes else []
    for prefix in prefixes:
        if not any(code.startswith(prefix) for code in codes):
            raise UsageError(f"no code begins with '{prefix}': {did_you_mean(prefix, codes)}")


def rule(code: str) -> Rule:
    """The rule of a code or slug.  Raises UsageError."""
    known = {rule.code: rule for rule in rules()} | {rule.slug: rule for rule in rules()}
    found = known.get(code) or known.get(code.upper())
    if found is None:
        raise UsageError(f"there is no rule '{code}': {did_you_mean(code, known)}")
    return found
