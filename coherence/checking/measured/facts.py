"""Finds the facts that the questions of a design ask for and an overlay can state, each once, with who asks.

What is asked for is read from the design and from what the open findings are about, not from their words: the modules
of `fact_kinds` each know one sort of fact.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Protocol, cast

from coherence.checking import fact_kinds
from coherence.checking.default_promises import ANSWER, default_promises
from coherence.checking.fact_queries import AskedFact, FactQuery, FactTarget, OpenQuestion
from coherence.findings.finding import Finding, Verdict
from coherence.language.design import Design


class KindModule(Protocol):
    """One sort of fact."""

    def facts(self, design: Design, question: OpenQuestion) -> Iterable[AskedFact]:
        """Yields what a question lacks."""

    def queries(self, fact: AskedFact, target: FactTarget) -> Iterable[FactQuery]:
        """Yields what a Prometheus is asked for it, the best first."""


@lru_cache(maxsize=1)
def kind_modules() -> Mapping[str, KindModule]:
    """Returns the modules of `fact_kinds` by their names."""
    names = sorted(info.name for info in pkgutil.iter_modules(fact_kinds.__path__))
    return {name: cast("KindModule", importlib.import_module(f"{fact_kinds.__name__}.{name}")) for name in names}


@dataclass(frozen=True)
class Lacking:
    """What a design lacks: facts in the order of their paths, and the questions that ask for none."""

    facts: tuple[AskedFact, ...]
    others: tuple[OpenQuestion, ...]


def lacking(design: Design, findings: Iterable[Finding]) -> Lacking:
    """Returns what the open questions of a design ask for."""
    facts: dict[tuple[str, ...], AskedFact] = {}
    others: list[OpenQuestion] = []
    for question in dict.fromkeys(_open(design, tuple(findings))):
        lacks = [fact for module in kind_modules().values() for fact in module.facts(design, question)]
        for fact in lacks:
            known = facts.setdefault(fact.path, fact)
            facts[fact.path] = replace(known, asked_by=tuple(sorted({*known.asked_by, *question.codes})))
        others += [] if lacks else [question]
    return Lacking(tuple(facts[path] for path in sorted(facts)), tuple(others))


def _open(design: Design, findings: tuple[Finding, ...]) -> Iterator[OpenQuestion]:
    """Yields what is undecided, each default promise that a number would decide, and each that a call is answered in
    time: that its tries fit is an answer too, and says nothing of how long one takes.
    """
    yield from (OpenQuestion((it.code,), it.of) for it in findings if it.verdict is Verdict.UNDECIDED)
    for promise in default_promises(design, findings):
        if promise.kind is ANSWER or promise.needs(promise.state(findings)):
            yield OpenQuestion(promise.kind.codes, promise.of)


__all__ = ["KindModule", "Lacking", "kind_modules", "lacking"]
