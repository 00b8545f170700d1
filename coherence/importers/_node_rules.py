"""Which nodes take the pods of a workload: node selectors, affinities to nodes and tolerations as rules of placement.

A rule names a label that every place of the overlay has; the taint of a place is the key of a taint of Kubernetes.

SOURCE: Kubernetes documentation, Assigning Pods to Nodes, Taints and Tolerations; core/v1 NodeSelectorRequirement: all
requirements of a term hold, one of several terms is enough.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from coherence.importers._kubernetes import FieldView
from coherence.importers._names import sanitised
from coherence.importers._quantities import respelled
from coherence.importers._sketch import Sketch
from coherence.language.document import Scalar, Table

NODE, HOST = "node", "kubernetes.io/hostname"
REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"
SELECTS = {"In": "only on", "NotIn": "not on"}
PREFERS = {"In": "prefer on", "NotIn": "prefer not on"}
CLOSES = ("", "NoSchedule")
VALUE = re.compile(r"[a-z0-9][a-z0-9_.-]*")
ONE_TERM = "one of several terms is enough: not modelled"
OTHER = "no label and values that the places of the overlay have"
VALUED = "a taint of the overlay has no value and no effect of its own"


@dataclass
class PlacementRules:
    """The rules of the pods of a workload; not whole where a demand, which is more than a wish, is not among them."""

    stated: list[Scalar] = field(default_factory=list)
    is_whole: bool = True

    def add(self, rule: Scalar | None, *, is_demand: bool) -> None:
        """Adds a rule; None for one that is not modelled."""
        if rule is not None:
            self.stated.append(rule)
        elif is_demand:
            self.is_whole = False


def domain_of(topology: str, sketch: Sketch) -> str:
    """Returns what the places of the overlay call a label of nodes; empty where they do not have it."""
    domain = NODE if topology == HOST else sanitised(topology.rpartition("/")[2])
    places = sketch.places.entries.values() if sketch.places else ()
    has = domain == NODE or all(isinstance(place, Table) and domain in place for place in places)
    return domain if has else ""


def add_node_rules(pod: FieldView, rules: PlacementRules, sketch: Sketch) -> None:
    """Adds the rules about the nodes of a pod; what is not modelled is listed."""
    _add_demands(pod, rules, sketch)
    for wish in _preferred(pod, sketch):
        rules.add(wish, is_demand=False)


def _add_demands(pod: FieldView, rules: PlacementRules, sketch: Sketch) -> None:
    for demand in (*_selected(pod, sketch), *_required(pod, sketch), *_tolerated(pod, sketch)):
        rules.add(demand, is_demand=True)


def able_places(pod: FieldView, sketch: Sketch) -> dict[str, Table] | None:
    """Returns the places of the overlay that take a pod by its demands; None where a demand is not modelled, or names
    single nodes.
    """
    rules = PlacementRules()
    _add_demands(pod, rules, sketch)
    demands = [rule.text.split() for rule in rules.stated]
    if not rules.is_whole or any(NODE in words[:3] for words in demands):
        return None
    places = sketch.places.entries if sketch.places else {}
    return {name: place for name, place in places.items() if isinstance(place, Table) and _takes(place, demands)}


def _takes(place: Table, demands: Sequence[Sequence[str]]) -> bool:
    """Decides whether a place has the labels that the demands ask for, and no taint but those that they bear."""
    borne = {words[1] for words in demands if words[0] == "tolerates"}
    taint = place.get("taint")
    if isinstance(taint, Scalar) and taint.text not in borne:
        return False
    for first, _, label, *values in (words for words in demands if words[0] in ("only", "not")):
        stated = place.get(label)
        if (isinstance(stated, Scalar) and stated.text in values) != (first == "only"):
            return False
    return True


def _selected(pod: FieldView, sketch: Sketch) -> Iterator[Scalar | None]:
    """Yields the rule of each label of the node selector; None for one that is not modelled."""
    selector = pod.table("nodeSelector")
    for key in selector.node.entries if selector is not None else ():
        assert selector is not None
        value = selector.scalar(key)
        domain = domain_of(key, sketch)
        is_known = value is not None and domain and VALUE.fullmatch(value.text)
        if not is_known:
            selector.remark(key, OTHER)
        yield respelled(value, f"only on {domain} {value.text}") if value is not None and is_known else None


def _required(pod: FieldView, sketch: Sketch) -> Iterator[Scalar | None]:
    required = pod.inner("affinity", "nodeAffinity", REQUIRED)
    terms = required.tables("nodeSelectorTerms") if required is not None else []
    if required is not None and len(terms) != 1:
        required.remark("nodeSelectorTerms", ONE_TERM)
        yield None
        return
    for term in terms:
        yield from _requirements(term, SELECTS, "", sketch)


def _preferred(pod: FieldView, sketch: Sketch) -> Iterator[Scalar]:
    """Yields the rule of each wish for a node that one requirement states."""
    affinity = pod.inner("affinity", "nodeAffinity")
    for wish in affinity.tables(PREFERRED) if affinity is not None else ():
        weight, preference = wish.whole("weight", least=1), wish.table("preference")
        if weight is None or preference is None:
            continue
        rules = list(_requirements(preference, PREFERS, f" weight {weight.text}", sketch))
        if len(rules) > 1:
            preference.remark("matchExpressions", "a wish of several requirements is not modelled")
        yield from (rule for rule in rules if rule is not None and len(rules) == 1)


def _requirements(term: FieldView, words: dict[str, str], more: str, sketch: Sketch) -> Iterator[Scalar | None]:
    """Yields the rule of each requirement of a term; None for one that is not modelled."""
    if "matchFields" in term:
        term.remark("matchFields", OTHER)
        yield None
    for requirement in term.tables("matchExpressions"):
        key, operator = requirement.required("key"), requirement.required("operator")
        values = [value.text for value in requirement.scalars("values")]
        domain = domain_of(key.text, sketch) if key is not None else ""
        rule = words.get(operator.text) if operator is not None else None
        if key is None or not domain or rule is None or not values or not all(map(VALUE.fullmatch, values)):
            requirement.remark("key", OTHER)
            yield None
        else:
            yield respelled(key, f"{rule} {domain} {' or '.join(values)}{more}")


def _tolerated(pod: FieldView, sketch: Sketch) -> Iterator[Scalar | None]:
    """Yields the taints of the places that the pod bears; None for a toleration of one that is not modelled."""
    places = sketch.places.entries.values() if sketch.places else ()
    stated = (place.get("taint") for place in places if isinstance(place, Table))
    taints = dict.fromkeys(taint.text for taint in stated if isinstance(taint, Scalar))
    for toleration in pod.tables("tolerations"):
        key, value, effect = (toleration.scalar(name) for name in ("key", "value", "effect"))
        toleration.use("operator", "tolerationSeconds")
        borne = [taint for taint in taints if key is None or taint in (key.text, sanitised(_last(key.text)))]
        is_plain = value is None and (effect is None or effect.text in CLOSES)
        for taint in borne:
            if not is_plain or not VALUE.fullmatch(taint):
                toleration.remark("effect" if value is None else "value", VALUED)
            yield Scalar(f"tolerates {taint}", toleration.node.place) if is_plain and VALUE.fullmatch(taint) else None
        if not borne:
            toleration.manifest.used.discard(toleration.at("key"))
            toleration.remark("key", "the places of the overlay have no such taint")


def _last(key: str) -> str:
    return key.rpartition("/")[2]
