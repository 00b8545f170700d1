"""Says which places take members of a thing: those that its placement selects, and none whose taint it does not bear.

A place that is not selected counts for no rule of the thing; one that is closed by a taint counts with no room, as
Kubernetes counts it (nodeAffinityPolicy Honor, nodeTaintsPolicy Ignore).
SOURCE: Kubernetes documentation, Pod Topology Spread Constraints, and Taints and Tolerations (NoSchedule).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from coherence.language.design import Design
from coherence.language.sentences import Admittance, PlacementRule

NODE_WORDS = ("node", "host", "hostname", "machine", "server")
OPEN, CLOSED, EXCLUDED = "open", "closed", "excluded"
TAINT = "taint"
STAY = "every place is there: none is lost or drained (COH229 asks what follows where one goes)"


def admissions_of(design: Design, thing: str) -> dict[str, str]:
    """Returns for each place whether it is open to the thing, closed by a taint, or excluded by a selector."""
    rules = [rule for rule in design.placement.get(thing, ()) if isinstance(rule, Admittance) and rule.must]
    selects = [rule for rule in rules if rule.by != TAINT]
    borne = {value for rule in rules if rule.by == TAINT for value in rule.values}
    return {name: _admission(name, given, selects, borne) for name, given in design.places.items()}


def _admission(name: str, given: Mapping[str, Any], selects: list[Admittance], borne: set[str]) -> str:
    if not all(rule.admits(label_of(name, given, rule.by)) for rule in selects):
        return EXCLUDED
    taint = text_of(given[TAINT]) if TAINT in given else ""
    return CLOSED if taint and taint not in borne else OPEN


def label_of(name: str, given: Mapping[str, Any], by: str) -> str:
    """Returns the label of a place by a word; of a word for the place itself, its name; empty where it has none."""
    if by in NODE_WORDS and by not in given:
        return name
    return text_of(given[by]) if by in given else ""


def text_of(value: Any) -> str:
    """Returns the words of a label."""
    return str(value.text).strip("'\"")


def confines(rule: PlacementRule) -> bool:
    """Decides whether members keep off places by a rule: what they tolerate opens some to them."""
    return rule.must and not (isinstance(rule, Admittance) and rule.by == TAINT)


def is_selective(design: Design, thing: str) -> bool:
    """Decides whether some place does not take members of the thing."""
    return any(state != OPEN for state in admissions_of(design, thing).values())
