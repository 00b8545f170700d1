"""Groups questions by diagnostic domain: scope, teams, when what it says is meant to hold, and what it does not cover.

Each file `domains/NAME.toml` is one domain.  Its conditions are compared with the design, where that states the number.
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from importlib.resources import files
from typing import Any

from coherence.base import graphs
from coherence.base.errors import UsageError, did_you_mean
from coherence.findings.finding import Report
from coherence.language.design import Design
from coherence.language.schema_kinds import Quantity


@dataclass(frozen=True)
class Condition:
    """What a domain is meant for, in words: at least so much of what is counted in a design (`measure`).

    One of its `alternatives` does as well.
    """

    words: str
    measure: str
    least: int
    alternatives: tuple[Condition, ...] = ()

    @property
    def all_words(self) -> str:
        """Returns the words of all alternatives."""
        *first, last = (own.words for own in (self, *self.alternatives))
        return f"{', '.join(first)} or {last}" if first else last


@dataclass(frozen=True)
class Domain:
    """One diagnostic domain.  `codes`: beginnings of codes; `commands`: what else answers about it."""

    name: str
    title: str
    cluster: str
    teams: str
    scope: str
    codes: tuple[str, ...]
    commands: tuple[str, ...]
    valid: tuple[Condition, ...]
    not_covered: tuple[str, ...]

    def stated(self, report: Report, designs: Iterable[Design]) -> Report:
        """Returns a report with what this domain says about each design that it is about."""
        lines = [line for design in designs for line in self.lines(design)]
        return replace(report, assumptions=tuple(dict.fromkeys((*report.assumptions, *lines))))

    def lines(self, design: Design) -> Iterator[str]:
        """Yields what the answers of this domain about a design stand on, in words."""
        yield f"{self.name}, {self.title}: {self.scope} (for {self.teams})"
        yield from (f"{self.name} {_compared(condition, design)}" for condition in self.valid)
        yield f"{self.name} does not cover: {'; '.join(self.not_covered)}"
        if self.commands:
            yield f"{self.name} is also answered by: {', '.join(self.commands)}"


def domain(name: str) -> Domain:
    """Returns the domain of this name, with the questions that say that they are of it.  Raises UsageError."""
    from coherence.findings.registry import question_pages

    known = domains()
    if name not in known:
        raise UsageError(f"there is no domain '{name}': {did_you_mean(name, known)}")
    own = (page.code for page in question_pages() if page.domain.partition(" ")[0] == name)
    return replace(known[name], codes=tuple(dict.fromkeys((*known[name].codes, *own))))


def domains() -> Mapping[str, Domain]:
    """Returns every domain, by name."""
    folder = files(__package__).joinpath("domains")
    names = sorted(file.name.removesuffix(".toml") for file in folder.iterdir() if file.name.endswith(".toml"))
    return {name: _read(name, folder.joinpath(f"{name}.toml").read_text(encoding="utf-8")) for name in names}


def _read(name: str, text: str) -> Domain:
    data: dict[str, Any] = tomllib.loads(text)
    lists: dict[str, Any] = {key: tuple(data.pop(key)) for key in ("codes", "commands", "not_covered")}
    return Domain(name=name, valid=tuple(map(_condition, data.pop("valid", ()))), **lists, **data)


def _condition(row: dict[str, Any]) -> Condition:
    return Condition(**{**row, "alternatives": tuple(map(_condition, row.get("alternatives", ())))})


def _compared(condition: Condition, design: Design) -> str:
    every = (condition, *condition.alternatives)
    counts = [count for own in every if (count := COUNTS[own.measure](design)) is not None]
    if len(counts) < len(every):
        return f"is meant for {condition.all_words}: the design does not say whether it is so"
    stated = " and ".join(f"{low}" if low == high else f"{low} to {high}" for low, high in counts)
    meant = f"is meant for {condition.all_words}: the design has {stated}"
    if any(low >= own.least for own, (low, _) in zip(every, counts, strict=True)):
        return meant
    may_be = any(high >= own.least for own, (_, high) in zip(every, counts, strict=True))
    return f"{meant}, {'it may be outside' if may_be else 'outside of it'}"


AGENT = "agent_loop"  # the part
Count = tuple[int, int] | None  # the least and the greatest number; None where the design does not state it


def _devices(design: Design) -> Count:
    tiers = (design.infrastructure.tiers or {}).values() if design.infrastructure else ()
    counts = [tier.count for tier in tiers]
    known = [count for count in counts if isinstance(count, Quantity)]
    if not known or len(known) < len(counts):
        return None
    return int(sum(count.low for count in known)), int(sum(count.high for count in known))


def _agents(design: Design) -> set[str]:
    """Returns what plans: agents by their part, and what calls lead back to."""
    own = {name for name, thing in design.components.items() if thing.part is not None and thing.part.text == AGENT}
    return own.union(*_circles(design))


def _tools(design: Design) -> int:
    agents = _agents(design)
    return len({str(call.callee) for call in design.calls if str(call.caller) in agents} - agents)


def _circles(design: Design) -> list[tuple[str, ...]]:
    """Returns the groups of things whose calls lead back to their caller."""
    after: dict[str, set[str]] = {}
    for call in design.calls:
        after.setdefault(str(call.caller), set()).add(str(call.callee))
        after.setdefault(str(call.callee), set())
    return [group for group in graphs.components(after) if len(group) > 1 or group[0] in after[group[0]]]


def _exactly(number: Callable[[Design], int]) -> Callable[[Design], Count]:
    return lambda design: (number(design), number(design))


COUNTS: Mapping[str, Callable[[Design], Count]] = {
    "devices": _devices,
    "tiers": _exactly(lambda design: len(design.infrastructure.tiers or {}) if design.infrastructure else 0),
    "links": _exactly(lambda design: len(design.infrastructure.links) if design.infrastructure else 0),
    "boundaries": _exactly(lambda design: len(design.infrastructure.boundaries or {}) if design.infrastructure else 0),
    "layers": _exactly(lambda design: len({loop.layer.text for loop in design.loops.values() if loop.layer})),
    "promises": _exactly(lambda design: len(design.promises)),
    "policies": _exactly(lambda design: len(design.calls) + len(design.timers) + len(design.limits)),
    "calls": _exactly(lambda design: len(design.calls)),
    "agents": _exactly(lambda design: len(_agents(design))),
    "tools": _exactly(_tools),
    "circles of calls": _exactly(lambda design: len(_circles(design))),
    "prices": _exactly(lambda design: len(design.prices)),
    "environments": _exactly(lambda design: int(bool(design.environment))),
}
