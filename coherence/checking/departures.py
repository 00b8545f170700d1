"""Takes back answers that stand on a law which differs, in the design at hand, from that of the program it stands for.

A run of the model is a run of the program only where the two laws agree.  Where they do not, an answer from runs is
undecided and says in what they differ, until the part replays its original.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from coherence.base.queries import cached
from coherence.findings.finding import Evidence, Finding, Grade, Severity, Verdict
from coherence.language.design import Design, Loop
from coherence.language.names import resolve
from coherence.language.roles import in_role
from coherence.language.schema_kinds import Word

HPAS = ("kubernetes_hpa", "keda_scaledobject")
SIGNS_ALONE = "COH307"  # rests on the sign of a law, in which they agree


def taken_back(finding: Finding, design: Design) -> Finding:
    """Returns an answer from runs, undecided where a loop that it is about departs from its original."""
    if finding.verdict not in (Verdict.PROVED, Verdict.CONFLICT) or finding.code == SIGNS_ALONE:
        return finding
    about = [words for name, words in departures(design) if name in finding.of]
    if not about:
        return finding
    reasons = "; ".join(dict.fromkeys(about))
    message = f"not decided, as {reasons} (by the law as it is modelled: {finding.message})"
    evidence = Evidence(Grade.BOUNDED, "not decided", bound=finding.message)
    undecided = replace(finding, verdict=Verdict.UNDECIDED, severity=Severity.INFO, message=message)
    return replace(undecided, evidence=evidence, certainty="", repairs=())


@cached
def departures(design: Design) -> tuple[tuple[str, str], ...]:
    """Returns each loop whose law departs from its original, and how, so that no run of it is one of the program."""
    return tuple((loop.name, words) for loop in design.loops.values() for words in _of(design, loop))


def _of(design: Design, loop: Loop) -> Iterator[str]:
    signal = _signal(design, loop)
    if pool := _starting_pool(design, loop, signal.partition(".")[0]):
        yield f"{loop.name} multiplies all replicas of {pool}, where Kubernetes multiplies the ready ones"
    others = [other.name for other in design.loops.values() if other is not loop and _signal(design, other) == signal]
    if rivals := [name for name in others if _is_hpa(loop) and _is_hpa(design.loops[name])] if signal else []:
        yield f"Kubernetes switches {' and '.join(sorted((loop.name, *rivals)))} off: one target"


def _starting_pool(design: Design, loop: Loop, thing: str) -> str:
    """Returns the pool that an HPA scales, where its members take time to start."""
    pool = design.components.get(thing)
    if not _is_hpa(loop) or pool is None or pool.part is None or pool.part.text != "replica_pool":
        return ""
    return pool.name if any(span.high > 0 for _, span in in_role(pool, "start")) else ""


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
