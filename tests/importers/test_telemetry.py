"""Sensor chains: from the scrape of a target over rules, adapters and windows to the loop that reads the metric."""

from __future__ import annotations

from pathlib import Path

import pytest

from coherence import importers
from coherence.checking.reports import check
from coherence.findings.finding import Verdict

WEB = """\
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: prod}
spec: {template: {metadata: {labels: {app: web}}, spec: {containers: [{name: web}]}}}
"""
SERVICE = """\
apiVersion: v1
kind: Service
metadata: {name: web, namespace: prod, labels: {team: a}}
spec: {selector: {app: web}}
"""
RULES = (
    "[{seriesQuery: 'requests_total{pod!=\"\"}', name: {matches: '^(.*)_total$', as: '${1}_rate'}, metricsQuery: %s}]"
)
RATE = "'sum(rate(<<.Series>>{<<.LabelMatchers>>}[2m])) by (<<.GroupBy>>)'"
OPERATED = "apiVersion: monitoring.coreos.com/v1\n"
ADAPTER = """\
apiVersion: apps/v1
kind: Deployment
metadata: {name: adapter, namespace: monitoring}
spec:
  template:
    spec:
      containers: [{image: 'r/prometheus-adapter:v0.12.0', args: [--metrics-relist-interval=%s, --config=/c.yaml]}]
"""


def monitor(
    interval: str = "interval: 30s", *, labels: str = "team: a", kind: str = "ServiceMonitor", where: str = "prod"
) -> str:
    endpoints = "endpoints" if kind == "ServiceMonitor" else "podMetricsEndpoints"
    return f"""\
apiVersion: monitoring.coreos.com/v1
kind: {kind}
metadata: {{name: {labels.replace(": ", "-")}-{where}, namespace: monitoring}}
spec:
  namespaceSelector: {{matchNames: [{where}]}}
  selector: {{matchLabels: {{{labels}}}}}
  {endpoints}: [{{{interval}}}]
"""


def rules(query: str = RATE) -> str:
    text = f"rules: {RULES.replace('%s', query)}".replace("'", "''")
    return f"apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: c}}\ndata: {{config.yaml: '{text}'}}\n"


def scaler(metric: str = "requests_rate", *, kind: str = "Pods") -> str:
    source = "pods" if kind == "Pods" else "external"
    return f"""\
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {{name: web, namespace: prod}}
spec:
  scaleTargetRef: {{kind: Deployment, name: web}}
  minReplicas: 2
  maxReplicas: 9
  metrics: [{{type: {kind}, {source}: {{metric: {{name: {metric}}}, target: {{type: AverageValue, averageValue: 5}}}}}}]
"""


def keda(query: str) -> str:
    return f"""\
apiVersion: keda.sh/v1alpha1
kind: ScaledObject
metadata: {{name: web, namespace: prod}}
spec:
  scaleTargetRef: {{name: web}}
  minReplicaCount: 1
  triggers: [{{type: prometheus, metadata: {{query: "{query}", threshold: '5'}}}}]
"""


def recorded(expression: str, interval: str = "") -> str:
    head = "apiVersion: monitoring.coreos.com/v1\nkind: PrometheusRule\nmetadata: {name: r}\n"
    return f"{head}spec: {{groups: [{{name: g{interval}, rules: [{{record: 'web:rate', expr: '{expression}'}}]}}]}}\n"


def chain(*texts: str) -> list[str]:
    loops = importers.design_from_sources({"web.yaml": "---\n".join(texts)}).loops
    (sensor,) = [loop.target.sensor for loop in loops.values() if loop.target is not None]
    return [f"{link.kind} {link.duration.text if link.duration else ''}" for link in sensor]


def listed(*texts: str) -> list[str]:
    return [words for _, words in importers.design_from_sources({"web.yaml": "---\n".join(texts)}).not_modelled]


def test_a_pods_metric_of_an_adapter_is_scraped_and_asked_for_with_its_window() -> None:
    assert chain(WEB, SERVICE, monitor(), rules(), scaler()) == ["scrape 30 s", "rate 2 min"]


def test_the_order_of_the_files_says_nothing() -> None:
    assert chain(scaler(), rules(), monitor(), SERVICE, WEB) == ["scrape 30 s", "rate 2 min"]


def test_a_value_without_a_window_is_the_last_sample_of_five_minutes() -> None:
    assert chain(WEB, SERVICE, monitor(), rules("'sum(<<.Series>>)'"), scaler()) == ["scrape 30 s", "last 5 min"]


def test_an_adapter_knows_what_had_a_sample_in_its_relist_interval() -> None:
    texts = (WEB, SERVICE, monitor(), rules(), scaler())
    assert chain(*texts, ADAPTER.replace("%s", "1m")) == ["scrape 30 s", "last 60 s", "rate 2 min"]


@pytest.mark.parametrize(
    ("monitors", "expected"),
    [
        ([monitor(), monitor("interval: 1m", labels="team: b")], "scrape 30 s"),  # the other one is of something else
        ([monitor(labels="app: web", kind="PodMonitor"), monitor("interval: 1m", labels="team: b")], "scrape 30 s"),
        ([monitor("port: x")], "scrape 30 s"),  # the operator's default
        ([monitor("port: x"), f"{OPERATED}kind: Prometheus\nmetadata: {{name: p}}\nspec: {{scrapeInterval: 1m}}\n"],
         "scrape 60 s"),
        ([monitor("interval: 20s", labels="team: b")], "scrape 20 s"),  # all that is scraped is scraped so
    ],
)  # fmt: skip
def test_how_often_the_target_is_scraped(monitors: list[str], expected: str) -> None:
    assert chain(WEB, SERVICE, rules(), scaler(), *monitors)[0] == expected


def test_two_intervals_of_others_say_nothing_and_are_listed() -> None:
    texts = (WEB, SERVICE, rules(), scaler(), monitor(labels="x: y"), monitor("interval: 1m", labels="team: b"))
    assert chain(*texts) == []
    assert any("how often requests_total is scraped" in words for words in listed(*texts))


def test_a_monitor_of_another_namespace_does_not_scrape_it() -> None:
    texts = (WEB, SERVICE, rules(), scaler(), monitor("interval: 1m"), monitor("interval: 5s", where="dev"))
    assert chain(*texts)[0] == "scrape 60 s"


def test_a_recorded_series_is_as_old_as_its_rule() -> None:
    texts = (WEB, monitor(), keda("web:rate"))
    assert chain(*texts, recorded("rate(requests_total[5m])")) == [
        "scrape 30 s",
        "rate 5 min",
        "relist 30 s",
        "last 5 min",
    ]
    assert chain(*texts, recorded("sum(x)", ", interval: 1m"))[2] == "relist 60 s"


def test_what_a_rule_reads_may_be_of_another_target() -> None:
    rule = "rules: [{seriesQuery: 'web:rate', metricsQuery: 'sum(web:rate)'}]"
    answers = f'apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: c}}\ndata: {{a: "{rule}"}}\n'
    texts = (WEB, SERVICE, monitor(), recorded("rate(other[5m])"), answers, scaler("'web:rate'"))
    assert chain(*texts)[0] == "scrape 30 s"
    assert chain(*texts, monitor("interval: 1m", labels="team: b")) == []


def test_a_rule_that_reads_itself_ends() -> None:
    assert chain(WEB, monitor(), keda("web:rate"), recorded("web:rate")) == []


def test_a_query_of_keda_has_its_windows_and_subqueries() -> None:
    query = "max_over_time(sum(rate(requests_total[2m]))[10m:1m])"
    assert chain(WEB, monitor(), keda(query)) == ["scrape 30 s", "rate 2 min", "relist 60 s", "max 10 min"]


def test_of_several_series_the_oldest_counts() -> None:
    assert chain(WEB, monitor(), keda("rate(a[5m]) / rate(b[1m])")) == ["scrape 30 s", "rate 5 min"]


@pytest.mark.parametrize(
    ("query", "why"),
    [("rate(a[5m] offset 1h)", "offset"), ("rate(a[5m)", "not understood"), ("vector(1)", "reads no series")],
)
def test_what_is_not_understood_has_no_chain_and_is_listed(query: str, why: str) -> None:
    assert chain(WEB, monitor(), keda(query)) == []
    assert any(why in words for words in listed(WEB, monitor(), keda(query)))


def test_a_metric_that_no_rule_answers_for_is_listed() -> None:
    assert chain(WEB, SERVICE, monitor(), rules(), scaler("other")) == []
    assert any("no rule of an adapter for other" in words for words in listed(WEB, monitor(), rules(), scaler("other")))


def test_without_anything_of_a_monitoring_system_nothing_is_said() -> None:
    assert not any("the age of what it reads" in words for words in listed(WEB, scaler()))


def codes(folder: Path, *texts: str) -> dict[str, Verdict]:
    path = folder / "web.yaml"
    path.write_text("---\n".join(texts))
    return {finding.code: finding.verdict for finding in check(path).findings if finding.code in ("COH222", "COH223")}


def test_a_window_of_one_scrape_is_a_conflict_and_its_repaired_twin_is_none(tmp_path: Path) -> None:
    short = RATE.replace("2m", "30s")
    assert codes(tmp_path, WEB, SERVICE, monitor(), rules(short), scaler())["COH222"] is Verdict.CONFLICT
    assert codes(tmp_path, WEB, SERVICE, monitor(), rules(), scaler())["COH222"] is Verdict.PROVED


def test_a_window_that_outlives_the_one_against_scaling_down_is_a_conflict(tmp_path: Path) -> None:
    late = codes(tmp_path, WEB, SERVICE, monitor(), rules(RATE.replace("2m", "10m")), scaler())
    assert late["COH223"] is Verdict.CONFLICT
    assert codes(tmp_path, WEB, SERVICE, monitor(), rules(), scaler())["COH223"] is Verdict.PROVED
