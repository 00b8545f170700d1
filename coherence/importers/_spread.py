"""Topology spread constraints of pods, as rules of placement, where an overlay states `places`.

A constraint counts the pods of its selector in each domain of its key; the most may be `maxSkew` above the least.

SOURCE: Kubernetes documentation, Pod Topology Spread Constraints; core/v1 TopologySpreadConstraint.
"""

from __future__ import annotations

from collections.abc import Mapping

from coherence.importers._kubernetes import FieldView
from coherence.importers._names import sanitised
from coherence.importers._quantities import respelled
from coherence.importers._selectors import matches
from coherence.importers._sketch import Sketch, listed
from coherence.language.document import Scalar, Table

KEY, NODE = "topologySpreadConstraints", "node"
HOST = "kubernetes.io/hostname"
SOFT = {"DoNotSchedule": "", "ScheduleAnyway": "prefer "}
NO_PLACES = "on which nodes pods lie stands in no manifest: an overlay states `places`"
NOT_MODELLED = {
    "minDomains": "how many domains there must be",
    "matchLabelKeys": "pods are counted for each value of more labels",
    "nodeAffinityPolicy": "which nodes count",
    "nodeTaintsPolicy": "which nodes count",
}


def spread(pod: FieldView, labels: Mapping[str, str], thing: str, sketch: Sketch) -> None:
    """Adds the rules of the pods of a workload."""
    if KEY in pod and not sketch.places:
        pod.remark(KEY, NO_PLACES)
        return
    rules = [_rule(constraint, labels, sketch) for constraint in pod.tables(KEY)]
    stated = [rule for rule in rules if rule is not None]
    if stated:
        sketch.state_key("placement", thing, listed(stated, stated[0].place))


def _rule(constraint: FieldView, labels: Mapping[str, str], sketch: Sketch) -> Scalar | None:
    """Returns one rule; None where it counts other pods, or in domains that the places of the overlay do not have."""
    constraint.remark_all(NOT_MODELLED)
    most, key = constraint.whole("maxSkew", least=1), constraint.required("topologyKey")
    selector, how = constraint.table("labelSelector"), constraint.scalar("whenUnsatisfiable")
    if most is None or key is None:
        return None
    domain = NODE if key.text == HOST else sanitised(key.text.rpartition("/")[2])
    places = sketch.places.entries.values() if sketch.places else ()
    if domain != NODE and not all(isinstance(place, Table) and domain in place for place in places):
        constraint.remark("maxSkew", f"the places of the overlay have no {domain}")
        return None
    if selector is None or not matches(selector, labels):
        constraint.remark("maxSkew", "it counts other pods")
        return None
    return respelled(most, f"{SOFT.get(how.text if how else '', '')}spread by {domain} <= {most.text}")
