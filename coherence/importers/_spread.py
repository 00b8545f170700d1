"""Topology spread constraints and affinities of pods, as rules of placement, where an overlay states `places`.

A constraint counts the pods of its selector in each domain of its key; the most may be `maxSkew` above the least.  Pods
that keep away from their like (podAntiAffinity) are at most one in each domain; those drawn to it are all in one.
Where a demand of pods cannot be stated none of their rules is: an answer by some of them would be about other pods.

SOURCE: Kubernetes documentation, Pod Topology Spread Constraints, and Assigning Pods to Nodes; core/v1
TopologySpreadConstraint and PodAffinityTerm.
"""

from __future__ import annotations

from coherence.importers._kubernetes import FieldView, word
from coherence.importers._names import sanitised
from coherence.importers._node_rules import PREFERRED, REQUIRED, PlacementRules, add_node_rules, domain_of
from coherence.importers._quantities import respelled
from coherence.importers._selectors import matches, selected
from coherence.importers._sketch import Pods, Sketch, listed
from coherence.language.document import Scalar

KEY, OF_NODES = "topologySpreadConstraints", ("nodeSelector", "tolerations")
MOST_NAMED = 3
SOFT = "ScheduleAnyway"
WITHHELD = "another rule of these pods is not modelled, and some alone would be about other pods"
NO_PLACES = "on which nodes pods lie stands in no manifest: an overlay states `places`"
NOT_MODELLED = {
    "minDomains": "how many domains there must be",
    "nodeAffinityPolicy": "which nodes count",
    "nodeTaintsPolicy": "which nodes count",
}
USUAL = {"minDomains": "1", "nodeAffinityPolicy": "Honor", "nodeTaintsPolicy": "Ignore"}
AFFINITIES = {"podAntiAffinity": "at most 1", "podAffinity": "together"}
OTHERS_COUNT = {  # keys by which a rule counts other pods than its selector finds in the namespace
    "namespaces": "pods of which namespaces count",
    "namespaceSelector": "pods of which namespaces count",
    "matchLabelKeys": "pods are counted for each value of more labels",
    "mismatchLabelKeys": "pods are counted for each other value of more labels",
}


def add_spread_rules(sketch: Sketch) -> None:
    """Adds the rules of the pods of each workload, when the labels of all are known."""
    for pods in sketch.pods:
        if pods.template is not None:
            _add_rules(pods.template, pods, sketch)


def _add_rules(pod: FieldView, own: Pods, sketch: Sketch) -> None:
    affinity = pod.table("affinity")
    if not sketch.places:
        pod.remark(KEY, NO_PLACES)
        if affinity is not None:
            affinity.remark_all(dict.fromkeys(AFFINITIES, NO_PLACES))
        return
    rules = PlacementRules()
    for constraint in pod.tables(KEY):
        rules.add(_rule(constraint, own, sketch), is_demand=word(constraint.node, "whenUnsatisfiable") != SOFT)
    for key, rule in AFFINITIES.items() if affinity is not None else ():
        terms = affinity.table(key) if affinity is not None else None
        if terms is not None:
            _add_affinities(terms, rule, own, rules, sketch)
    add_node_rules(pod, rules, sketch)
    if rules.stated and rules.is_whole:
        sketch.state_key("placement", own.thing, listed(rules.stated, rules.stated[0].place))
    elif rules.stated:
        pod.remark_all(dict.fromkeys((KEY, "affinity", *OF_NODES), WITHHELD))


def _rule(constraint: FieldView, own: Pods, sketch: Sketch) -> Scalar | None:
    """Returns one rule; None where it counts other pods, or in domains that the places of the overlay do not have."""
    usual = [key for key, value in USUAL.items() if word(constraint.node, key) == value]
    constraint.use(*usual)
    others = {key: why for key, why in NOT_MODELLED.items() if key in constraint and key not in usual}
    constraint.remark_all(others)
    most, how = constraint.whole("maxSkew", least=1), constraint.scalar("whenUnsatisfiable")
    domain = _domain(constraint, own, sketch, "maxSkew")
    if most is None or domain is None or others:
        return None
    wish = "prefer " if how is not None and how.text == SOFT else ""
    return respelled(most, f"{wish}spread by {domain.text} <= {most.text}")


def _add_affinities(terms: FieldView, rule: str, own: Pods, rules: PlacementRules, sketch: Sketch) -> None:
    """Adds the rules by which pods of a workload keep away from each other, or lie together."""
    for term in terms.tables(REQUIRED):
        rules.add(_of_term(term, rule, own, sketch), is_demand=True)
    for wish in terms.tables(PREFERRED):
        weight, inner = wish.whole("weight", least=1), wish.table("podAffinityTerm")
        also = f" weight {weight.text}" if weight is not None else ""
        wished = _of_term(inner, f"prefer {rule}", own, sketch, also=also) if inner is not None else None
        rules.add(wished, is_demand=False)


def domains_apart(own: Pods, sketch: Sketch) -> list[str]:
    """Returns the domains in each of which at most one pod of a workload may lie, by demands that count no others."""
    terms = own.template.inner("affinity", "podAntiAffinity") if own.template is not None else None
    found = [_domain(term, own, sketch, "topologyKey") for term in terms.tables(REQUIRED)] if terms is not None else []
    return list(dict.fromkeys(domain.text for domain in found if domain is not None))


def _of_term(term: FieldView, rule: str, own: Pods, sketch: Sketch, *, also: str = "") -> Scalar | None:
    domain = _domain(term, own, sketch, "topologyKey")
    return respelled(domain, f"{rule} by {domain.text}{also}") if domain is not None else None


def _domain(rule: FieldView, own: Pods, sketch: Sketch, key: str) -> Scalar | None:
    """Returns what a rule counts by; None where it counts other pods, or the places of the overlay do not have it."""
    topology, selector = rule.required("topologyKey"), rule.table("labelSelector")
    if topology is None:
        return None
    domain = domain_of(topology.text, sketch)
    if not domain:
        rule.remark(key, f"the places of the overlay have no {sanitised(topology.text.rpartition('/')[2])}")
        return None
    if any(stated in rule for stated in OTHERS_COUNT):
        rule.remark_all(OTHERS_COUNT)
        return None
    if selector is None or not matches(selector, own.labels):
        rule.remark(key, "it counts other pods")
        return None
    others = [pods.thing for pods in selected(selector, sketch) if pods.thing != own.thing]
    if others:
        rule.remark(key, f"it counts the pods of {', '.join(sorted(others)[:MOST_NAMED])} too")
        return None
    return respelled(topology, domain)
