"""Takes back answers that stand on a law which differs, in the design at hand, from that of the program it stands for.

A run of the model is a run of the program only where the two laws agree.  Where they do not, an answer from runs is
undecided and says in what they differ, until the part replays its original.  What evicts members of which a disruption
budget lets none go evicts nobody: answers about its evictions are undecided too.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING

from coherence.base.graphs import reached
from coherence.base.queries import cached
from coherence.base.reads import unnoted
from coherence.findings.finding import Evidence, Finding, Grade, Severity, Verdict
from coherence.language.design import Design, Limit, Loop
from coherence.language.entries.actions import acted_on
from coherence.language.expressions.tree import Arithmetic, Name, Number, Tree, names
from coherence.language.names import resolve
from coherence.language.schema_kinds import Formula, Quantity, Word

if TYPE_CHECKING:
    from coherence.model.model import Model

HPAS = ("kubernetes_hpa", "keda_scaledobject")
BUDGET, EVICT = "pod_disruption_budget", "evict"
OF_NO_EVICTION = ("COH209", "COH701")  # about the budget itself, and what a policy states of itself
SIGNS_ALONE = "COH307"  # rests on the sign of a law, in which they agree


def taken_back(finding: Finding, design: Design) -> Finding:
    """Returns an answer from runs, undecided where a loop that it is about departs from its original."""
    if finding.verdict not in (Verdict.PROVED, Verdict.CONFLICT) or finding.code == SIGNS_ALONE:
        return finding
    about = [words for name, words in departures(design) if name in finding.of]
    return _undecided(finding, about, "by the law as it is modelled") if about else finding


def held_back(finding: Finding, design: Design) -> Finding:
    """Returns an answer about what evicts members, undecided where a budget lets none of them go."""
    if finding.verdict not in (Verdict.PROVED, Verdict.CONFLICT, Verdict.NOTE) or finding.code in OF_NO_EVICTION:
        return finding
    about = [words for name, words in refused(design) if name in finding.of]
    return _undecided(finding, about, "without that budget") if about else finding


def _undecided(finding: Finding, about: Sequence[str], where: str) -> Finding:
    """Returns an answer as undecided, with the reasons, and what it is but for them."""
    reasons = "; ".join(dict.fromkeys(about))
    message = f"not decided, as {reasons} ({where}: {finding.message})"
    evidence = Evidence(Grade.BOUNDED, "not decided", bound=finding.message)
    undecided = replace(finding, verdict=Verdict.UNDECIDED, severity=Severity.INFO, message=message)
    return replace(undecided, evidence=evidence, certainty="", repairs=())


@cached
@unnoted()  # what is looked at for every answer is read by none of their questions
def refused(design: Design) -> tuple[tuple[str, str], ...]:
    """Returns each timer and loop that evicts members of which a budget lets none go, so that it evicts nobody."""
    closed = {thing: limit.name for limit in design.limits.values() if (thing := _kept_whole(design, limit))}
    timers = [timer for timer in design.timers.values() if timer.then is not None]
    orders = [(timer.name, timer.then.text) for timer in timers if timer.then is not None]
    evicts = [(name, acted_on(then).partition(".")[0]) for name, then in orders if then.split(" ")[0] == EVICT]
    loops = [(loop.name, loop.actuation.evict) for loop in design.loops.values() if loop.actuation is not None]
    evicts += [(name, thing.text) for name, thing in loops if thing is not None]
    return tuple(
        (name, f"{closed[thing]} lets none of {thing} go, and {name} evicts by its leave")
        for name, thing in evicts if thing in closed
    )  # fmt: skip


def _kept_whole(design: Design, limit: Limit) -> str:
    """Returns the thing of which a disruption budget lets no member go, whatever is up; empty where it may let one."""
    tree = limit.counts.tree if limit.counts is not None else None
    if limit.part is None or limit.part.text != BUDGET or limit.during is not None or not isinstance(tree, Name):
        return ""
    thing, most, least = tree.path.partition(".")[0], limit.at_most, limit.at_least
    copies = design.components[thing].copies if thing in design.components else None
    if most is not None:
        return thing if _share_of(most, thing) == 0 or (isinstance(most, Quantity) and most.high == 0) else ""
    if _share_of(least, thing) is not None or not isinstance(least, Quantity):
        return thing if (_share_of(least, thing) or 0) >= 1 else ""
    written = any(_signal(design, loop).partition(".")[0] == thing for loop in design.loops.values())
    return thing if isinstance(copies, Quantity) and not written and least.low >= copies.high else ""


def _share_of(value: object, thing: str) -> Fraction | None:
    """Returns which share of the members of a thing a value is; None where it is none."""
    match value:
        case Formula(tree=Arithmetic("*", Number(value=share), Name(path=path))) if path == f"{thing}.copies":
            return share
    return None


@cached
def departures(design: Design) -> tuple[tuple[str, str], ...]:
    """Returns each loop whose law departs from its original, and how, so that no run of it is one of the program."""
    return tuple((loop.name, words) for loop in design.loops.values() for words in _of(design, loop))


def _of(design: Design, loop: Loop) -> Iterator[str]:
    signal = _signal(design, loop)
    if _is_hpa(loop) and loop.timescale is not None and loop.timescale.lands is not None:
        yield f"{loop.name} counts from what has landed, where Kubernetes counts from what it commanded last"
    if _is_hpa(loop) and _divides_by_all(loop) and (pool := _pool_read(design, loop, signal)):
        yield f"{loop.name} reads a share of the ready replicas of {pool} as one of all (`type: average`)"
    others = [other.name for other in design.loops.values() if other is not loop and _signal(design, other) == signal]
    if rivals := [name for name in others if _is_hpa(loop) and _is_hpa(design.loops[name])] if signal else []:
        yield f"Kubernetes switches {' and '.join(sorted((loop.name, *rivals)))} off: one target"


def _divides_by_all(loop: Loop) -> bool:
    return loop.target is not None and loop.target.kind is not None and loop.target.kind.text == "average"


def _pool_read(design: Design, loop: Loop, signal: str) -> str:
    """Returns the pool that a loop scales, where members take time to start and the loop reads how many are ready."""
    from coherence.model.elaborate import model_of
    from coherence.model.sampled_loops import members_ready

    model = model_of(design)
    ready = members_ready(model.outputs, design, signal)
    trees = [sampled.measured for sampled in model.loops if sampled.name == loop.name and sampled.measured]
    return signal.rpartition(".")[0] if ready and ready in _computed_from(model, trees) else ""


def _computed_from(model: Model, trees: Sequence[Tree]) -> set[str]:
    """Returns every signal that some expressions are computed from."""
    outputs = model.outputs
    starts = (name for tree in trees for name in names(tree))
    return reached(starts, lambda path: names(outputs[path]) if path in outputs else ())


def _is_hpa(loop: Loop) -> bool:
    return loop.part is not None and loop.part.text in HPAS


def _signal(design: Design, loop: Loop) -> str:
    """Returns the signal that a loop writes; nothing for one that leaves it alone."""
    actuation = loop.actuation
    if actuation is None or actuation.signal is None:
        return ""
    quiet = (isinstance(actuation.to, Word) and actuation.to.text == "unset") or (
        actuation.law is not None and actuation.law.text == "ignore"
    )
    return "" if quiet else resolve(actuation.signal.text, design)
