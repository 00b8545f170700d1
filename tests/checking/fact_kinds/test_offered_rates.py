"""Rates that a thing is asked, and what one member carries."""

from __future__ import annotations

from coherence.checking.fact_kinds import offered_rates
from tests.checking.fact_kinds.asking import asks, lacks


def test_both_rates_are_asked_for_and_one_is_in_counters() -> None:
    facts = lacks(offered_rates, "components: {web: {}}", "COH240", "live", "web")
    assert list(facts) == ["components.web.load", "components.web.rate_per_replica"]
    assert "istio_requests_total" in asks(offered_rates, facts["components.web.load"])[0]
    assert not asks(offered_rates, facts["components.web.rate_per_replica"])
    assert not lacks(offered_rates, "components: {web: {load: 3 req/s, rate_per_replica: 1 req/s}}", "COH240", "web")
