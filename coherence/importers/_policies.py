"""`behavior` of a HorizontalPodAutoscaler: hold windows, tolerance and rate of its loop.

SOURCE: Kubernetes API, autoscaling/v2 HPAScalingRules; a ScaledObject hands the same to its HPA.
"""

from __future__ import annotations

from coherence.base import units
from coherence.importers._kubernetes import FieldView
from coherence.importers._quantities import respelled
from coherence.importers._sketch import default_of, entry, listed
from coherence.language.document import Items, Node, Scalar, Table

WAYS = (("scaleUp", "up"), ("scaleDown", "down"))
WINDOW = "stabilizationWindowSeconds"


def timescale(behavior: FieldView | None) -> Table | None:
    """`hold_down` and `hold_up` from the stabilization windows."""
    if behavior is None:
        return None
    down, up = behavior.table("scaleDown"), behavior.table("scaleUp")
    values = {"hold_down": down.seconds(WINDOW) if down else None, "hold_up": up.seconds(WINDOW) if up else None}
    return entry(behavior.node.place, values) if any(values.values()) else None


def tolerance(behavior: FieldView | None) -> Scalar | None:
    """Returns the tolerance, where both ways state the same; else it is listed as not modelled."""
    rules = [behavior.table(key) for key, _ in WAYS] if behavior else []
    stated = [rule for rule in rules if rule is not None and "tolerance" in rule]
    tolerances = [rule.quantity("tolerance") for rule in stated]
    if (
        len(tolerances) == len(WAYS)
        and tolerances[0] is not None
        and tolerances[1] is not None
        and tolerances[0].text == tolerances[1].text
    ):
        return tolerances[0]
    for rule in stated:
        rule.remark("tolerance", "differs between up and down; the loop has one")
    return None


def rates(behavior: FieldView | None, part: str) -> Items | None:
    """`actuation.rate` from the policies; None where the part's default says it all.

    Several limits of one way: the one that allows most binds, as with selectPolicy Max.
    """
    stated = {way: rule for key, way in WAYS if behavior is not None and (rule := behavior.table(key)) is not None}
    if behavior is None or not any("policies" in rule or "selectPolicy" in rule for rule in stated.values()):
        return None
    nodes: list[Node] = []
    for _, way in WAYS:
        rule = stated.get(way)
        nodes += _limits(rule, way, part) if rule is not None else _defaults(part, way)
    return listed(nodes, behavior.node.place)


def _defaults(part: str, way: str) -> list[Node]:
    """Returns what the part says of one way."""
    default, _ = default_of(part, "actuation.rate")
    tables = [table for table in default if isinstance(table, Table)] if isinstance(default, Items) else []
    ways = [(table.get("way"), table) for table in tables]
    return [table for said, table in ways if isinstance(said, Scalar) and said.text == way]


def _limits(rule: FieldView, way: str, part: str) -> list[Node]:
    """Returns the limits that one way states."""
    select = rule.scalar("selectPolicy")
    chosen = select.text if select is not None else "Max"
    if select is not None and chosen not in ("Max", "Min", "Disabled"):
        words = f"{rule.at('selectPolicy')} is '{units.shorten(chosen)}'"
        rule.problem(select.place, words, "write Max, Min or Disabled")
    if select is not None and chosen == "Disabled":
        rule.remark("policies", "selectPolicy is Disabled")
        none, per = respelled(select, "0"), respelled(select, "15 s")
        return [entry(select.place, {"by": none, "per": per, "way": respelled(select, way)})]
    policies = rule.tables("policies")
    if not policies:
        return _defaults(part, way)
    if chosen == "Min" and len(policies) > 1:
        rule.remark("policies", "selectPolicy Min: the policy that allows least binds; taken as no limit")
        return []
    return [limit for policy in policies if (limit := _policy(policy, way)) is not None]


def _policy(policy: FieldView, way: str) -> Node | None:
    kind, period = policy.required("type"), policy.seconds("periodSeconds")
    policy.required("periodSeconds")
    if kind is None or period is None:
        return None
    if kind.text not in ("Percent", "Pods"):
        policy.problem(kind.place, f"{policy.at('type')} is '{units.shorten(kind.text)}'", "write Pods or Percent")
    percent = kind.text == "Percent"
    policy.required("value")
    value = policy.percent("value") if percent else policy.whole("value")
    key = "percent" if percent else "by"
    return entry(policy.node.place, {key: value, "per": period, "way": respelled(kind, way)}) if value else None
