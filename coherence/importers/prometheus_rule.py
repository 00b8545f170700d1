"""PrometheusRule: recorded series, with how often they are evaluated.

An autoscaler that reads one of them reads it as old as its expression and its evaluation make it.  Alerts tell people;
no loop of the design acts on one, so they are listed.

SOURCE: prometheus-operator API, PrometheusRuleSpec; Prometheus documentation, Recording rules.
"""

from __future__ import annotations

from coherence.importers._kubernetes import Manifest
from coherence.importers._monitoring import Recorded, duration
from coherence.importers._sketch import Sketch

KIND = "PrometheusRule"
GROUPS = ("monitoring.coreos.com",)


def add(manifest: Manifest, sketch: Sketch) -> None:
    """Notes the recorded series."""
    for group in manifest.spec.tables("groups"):
        interval = duration(group, "interval")
        group.use("name")
        alerts, rules = 0, (group.place("rules"), f"{manifest.title}: {group.at('rules')}")
        for rule in group.tables("rules"):
            if "alert" in rule:
                alerts += 1
                rule.use(*rule.node.entries)
                continue
            name, expression = rule.required("record"), rule.required("expr")
            if name is not None and expression is not None:
                sketch.telemetry.recorded.setdefault(name.text, Recorded(expression, interval, rules))
        if alerts:
            manifest.remarks.append((rules[0], f"{rules[1]} ({alerts} alerts: nothing in the design acts on them)"))
