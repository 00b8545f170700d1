"""What a question lacks, and what a server is asked for it, of a design of a few lines."""

from __future__ import annotations

from types import ModuleType

from coherence.checking.fact_queries import AskedFact, FactTarget, OpenQuestion
from coherence.language.reading import read_text

DAY = 86_400


def lacks(module: ModuleType, design: str, code: str, *of: str) -> dict[str, AskedFact]:
    """The facts that a kind yields, by their names."""
    read = read_text("coherence: 1\n" + design, "d.yaml")
    return {fact.name: fact for fact in module.facts(read, OpenQuestion((code,), of))}


def asks(module: ModuleType, fact: AskedFact, kind: str = "Deployment") -> list[str]:
    """The queries for a fact about an object `web` in `prod`."""
    return [query.promql for query in module.queries(fact, FactTarget("web", kind, "prod", DAY))]
