"""DestinationRule: ejection and pools as limits of a host and of its subsets."""

from __future__ import annotations

from coherence import importers
from coherence.language.design import Design

RULE = """\
apiVersion: networking.istio.io/v1
kind: DestinationRule
metadata: {name: web, namespace: prod}
spec:
  host: web
  trafficPolicy:
    loadBalancer: {simple: RANDOM}
    connectionPool:
      tcp: {maxConnections: 7}
      http: {http1MaxPendingRequests: 3, maxRequestsPerConnection: 1}
    outlierDetection:
      consecutive5xxErrors: 5
      maxEjectionPercent: 40
      minHealthPercent: 30
"""


def read(text: str) -> Design:
    return importers.design_from_sources({"dr.yaml": text})


def limit(design: Design, name: str) -> tuple[str, str]:
    """(what it allows, where that stands)."""
    found = design.limits[name].at_most
    assert found is not None
    return found.text, str(found.place)


def test_limits_stand_where_they_are_written() -> None:
    made = read(RULE)
    assert limit(made, "web_connections") == ("7", "dr.yaml:9:29")
    assert limit(made, "web_pending_requests") == ("3", "dr.yaml:10:39")
    assert limit(made, "web_ejection") == ("40 % of web.copies round down", "dr.yaml:13:27")


def test_ejection_is_capped_by_default() -> None:
    made = read(RULE.replace("      maxEjectionPercent: 40\n", ""))
    assert limit(made, "web_ejection")[0] == "10 % of web.copies round down"


def test_panic_is_a_loop_only_where_it_is_on() -> None:
    assert "web_panic" in read(RULE).loops
    assert "web_panic" not in read(RULE.replace("minHealthPercent: 30", "minHealthPercent: 0")).loops
    assert "web_panic" not in read(RULE.replace("      minHealthPercent: 30\n", "")).loops


def test_a_subset_has_limits_of_its_own() -> None:
    subset = (
        "  subsets:\n    - {name: v2, labels: {v: a}, trafficPolicy: {connectionPool: {tcp: {maxConnections: 1}}}}\n"
    )
    assert {"web_connections", "web_v2_connections"} <= set(read(RULE + subset).limits)


def test_what_is_not_read_is_listed_with_its_line() -> None:
    listed = {place.line: words for place, words in read(RULE).not_modelled}
    assert "loadBalancer" in listed[7]
    assert "maxRequestsPerConnection" in listed[10]
    assert 12 not in listed  # the loop that ejects reads it


def test_a_retry_budget_is_a_limit_of_the_host_and_of_a_subset() -> None:
    budget = "trafficPolicy: {retryBudget: {percent: 12.5, minRetryConcurrency: 7}}"
    head = "apiVersion: networking.istio.io/v1\nkind: DestinationRule\nmetadata: {name: web}\n"
    design = read(f"{head}spec: {{host: web, {budget}, subsets: [{{name: v1, {budget}}}]}}\n")
    assert limit(design, "web_retry_budget")[0] == "12.5 % of web in flight"
    assert limit(design, "web_v1_retry_budget")[0] == "12.5 % of web_v1 in flight"
    assert str(design.limits["web_retry_budget"].but_at_least) == "7"
