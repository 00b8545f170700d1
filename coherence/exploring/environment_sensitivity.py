"""Asks a design with one kind of values of another one at a time: devices, places, boundaries, and all the rest.

Each row has the same figures, one number per column, so that designs can be compared by others: how many questions are
in conflict, proved and open, the least margin of a loop, the share of the load that links carry, and the longest tail.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from coherence.base.errors import InputError
from coherence.base.watchdog import current_run
from coherence.checking.design_check import Options, analysis
from coherence.checking.workspace import Entry
from coherence.exploring.tail_changes import hop_tails
from coherence.exploring.verdict_changes import root_of
from coherence.findings.finding import Finding, Verdict
from coherence.language.design import Design
from coherence.language.document import Table
from coherence.language.environments.differences import Difference, Path, between, differences
from coherence.language.reading import design_from_table

DEVICES, PLACES, BOUNDARIES, OTHERS = "accelerator mix", "placement", "boundary", "all other values"
KINDS = (DEVICES, PLACES, BOUNDARIES, OTHERS)
PLACING = frozenset({"via", "carries", "runs_on", "tier"})
COUNTED = (Verdict.CONFLICT, Verdict.PROVED, Verdict.UNDECIDED)
INFRASTRUCTURE = "infrastructure"
OF_DEVICES = frozenset({"tiers", "devices"})


@dataclass(frozen=True)
class EnvironmentRow:
    """The figures of a design with some values of another one.

    `margin`: the least of its loops, `carried`: the share of the load that links carry, `p99`: the longest of a hop
    (s); None where the design has none.  `reason`: why there are no figures.
    """

    name: str
    values: int
    conflicts: int = 0
    proved: int = 0
    undecided: int = 0
    margin: float | None = None
    carried: float | None = None
    p99: float | None = None
    reason: str = ""


def kind_of(path: Path) -> str:
    """Returns what kind of value a path leads to."""
    section, *below = map(str, path)
    words = {section, *below}
    if "boundaries" in words or (section == "loops" and "inside" in below):
        return BOUNDARIES
    if "links" in words or (words & PLACING and not words & OF_DEVICES):
        return PLACES
    rate = path[-1] if isinstance(path[-1], str) else ""
    return DEVICES if words & OF_DEVICES or rate.startswith("rate_per_") else OTHERS


def sensitivity(before: Entry, after: Entry, options: Options) -> tuple[EnvironmentRow, ...]:
    """Returns a row for the first design, for it with each kind of values of the second, and for the second.

    Rows that the time of the current run does not reach say so.
    """
    roots = [_root(entry) for entry in (before, after)]
    if roots[0] is None or roots[1] is None:
        return ()
    groups: dict[str, list[Difference]] = {}
    for value in differences(roots[0], roots[1]):
        groups.setdefault(kind_of(value.path), []).append(value)
    if not groups:
        return ()
    count = sum(map(len, groups.values()))
    return (
        _row("first", 0, before.design, before.sources, options),
        *(_between(name, before, groups[name], options) for name in KINDS if name in groups),
        _row("second", count, after.design, after.sources, options),
    )


def _root(entry: Entry) -> Table | None:
    """Returns the document of a design, with an infrastructure that is empty where it states none."""
    root = root_of(entry)
    if root is None or INFRASTRUCTURE in root:
        return root
    empty = {INFRASTRUCTURE: Table({}, {}, root.place)}
    return Table({**root.entries, **empty}, root.keys, root.place, root.sources)


def _between(name: str, before: Entry, chosen: Sequence[Difference], options: Options) -> EnvironmentRow:
    root, own = _root(before), before.design
    assert root is not None
    try:
        design = design_from_table(between(root, chosen), file=own.file, text=own.text)
    except InputError as error:
        return EnvironmentRow(name, len(chosen), reason=f"is no design by itself: {error.problems[0].message}")
    return _row(name, len(chosen), design, before.sources, options)


def _row(name: str, values: int, design: Design, sources: Mapping[str, str], options: Options) -> EnvironmentRow:
    if current_run().left <= 0:
        return EnvironmentRow(name, values, reason="not asked: the time limit was reached")
    answers = analysis(design, sources, lambda _: design, options=options, cut=False).answers
    conflicts, proved, undecided = (_number(answers.findings, verdict) for verdict in COUNTED)
    tails = [tail.p99 for tail in hop_tails(design).values()]
    margin = min(_margins(design, options.time_limit), default=None)
    longest = max(tails, default=None)
    return EnvironmentRow(name, values, conflicts, proved, undecided, margin, _carried(design), longest)


def _number(findings: Sequence[Finding], verdict: Verdict) -> int:
    return len({(finding.code, tuple(sorted(finding.of))) for finding in findings if finding.verdict is verdict})


def _margins(design: Design, seconds: float) -> Iterator[float]:
    """Yields the margin of each linear loop in feedback."""
    if not design.loops:
        return
    from coherence.loops.analysis.loop_distances import loop_distances
    from coherence.model.elaborate import model_of

    model = model_of(design)
    yield from (row.gap.margin for row in loop_distances(model, model, seconds) if row.gap is not None)


def _carried(design: Design) -> float | None:
    """Returns the share of the load that links carry; None where nothing goes over one, or a number is lacking."""
    from coherence.model.routes import transfers
    from coherence.verify.facts.design_facts import DesignFacts
    from coherence.verify.queues.link_loads import link_ways, loads

    facts = DesignFacts(design)
    ways = None if any(transfer.needs for transfer in transfers(design)) else loads(facts, link_ways(facts))
    return None if not ways else min(1.0, float(1 / max(way.load for way in ways)))
