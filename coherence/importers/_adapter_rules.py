"""Rules of the Prometheus adapter: with which query it answers for a metric of the custom or external metrics API.

The name of a metric is that of its series, unless `name.as` gives another one; of names made by a pattern only a prefix
or a suffix that is taken away is followed.

SOURCE: prometheus-adapter documentation, Configuration: Discovery, Naming, Querying.
"""

from __future__ import annotations

import re

from coherence.importers._kubernetes import FieldView
from coherence.importers._monitoring import AdapterRule
from coherence.importers._promql import selectors
from coherence.importers._quantities import respelled
from coherence.importers._sketch import Sketch
from coherence.language.document import Items, Table

DEFAULT = "sum(<<.Series>>{<<.LabelMatchers>>}) by (<<.GroupBy>>)"
SECTIONS = ("rules", "externalRules")


def is_rules(root: Table) -> bool:
    """Returns whether a mapping is a configuration of the adapter."""
    rules = [rule for key in SECTIONS if isinstance(items := root.get(key), Items) for rule in items]
    return bool(rules) and all(isinstance(rule, Table) and "seriesQuery" in rule for rule in rules)


def add_rules(view: FieldView, sketch: Sketch) -> None:
    """Notes the rules; one whose names are known only at run time is listed."""
    for key in SECTIONS:
        rules = view.place(key), f"{view.manifest.title}: {view.at(key)}"
        for rule in view.tables(key):
            series, query = rule.required("seriesQuery"), rule.scalar("metricsQuery")
            rule.pass_over("resources", "seriesFilters")
            metric = _series(series.text) if series else ""
            name = _name(metric, rule) if metric else ""
            if series is not None and not name:
                rule.remark("seriesQuery", "which metrics it finds is known at run time")
            elif series is not None:
                text = (query.text if query else DEFAULT).replace("<<.Series>>", metric)
                sketch.telemetry.adapter_rules.append(AdapterRule(name, respelled(query or series, text), rules))


def _series(query: str) -> str:
    """Returns the one series of a series query; nothing where a pattern chooses them."""
    read = selectors(query)
    return read[0].metric if read and len(read) == 1 else ""


def _name(series: str, rule: FieldView) -> str:
    """Returns the name of the metric; nothing where it is not known."""
    naming = rule.table("name")
    pattern, alias = (naming.scalar("matches"), naming.scalar("as")) if naming else (None, None)
    shown = pattern.text if pattern else ""
    if alias is not None and "$" not in alias.text and alias.text:
        return alias.text
    captured = _captured(series, shown) if shown else series
    if alias is None or not alias.text:
        return captured if not shown or "(" in shown else series
    return re.sub(r"\$\{1\}|\$1|\$0|\$\{0\}", lambda _: captured, alias.text) if captured else ""


def _captured(series: str, pattern: str) -> str:
    """Returns what `^(.*)_total$` or `^http_(.*)$` captures of a series; nothing for other patterns."""
    match = re.fullmatch(r"\^?([\w:]*)\(\.\*\)([\w:]*)\$?", pattern)
    if match is None or not series.startswith(match[1]) or not series.endswith(match[2]):
        return series if pattern.strip("^$") == series else ""
    return series[len(match[1]) : len(series) - len(match[2])]
