"""An update whose extra copy never has room, and updates and budgets beside places that go."""

from __future__ import annotations

import pytest

import coherence as co

UPDATE = """coherence: 1
components: {cpu: {count: 24}, web: {copies: 4, needs: {cpu: 3}}, others: {copies: 1, needs: {cpu: 9.5}}}
limits:
  surge: {counts: web.extra, at_most: 25 % of web.copies round up}
  gone: {counts: web.down, at_most: 25 % of web.copies round down}
"""
PLACED = """coherence: 1
components: {web: {copies: 5}}
places: {node: {count: 5}}
placement: {web: [at most 1 by node]}
limits:
  gone: {counts: web.down, at_most: 2}
  surge: {counts: web.extra, at_most: 0}
  budget: {uses: pod_disruption_budget, counts: web.available, at_least: 4}
"""


@pytest.mark.parametrize(("quota", "says"), [(24, True), ("24.4", True), ("24.5", False), (25, False)])
def test_a_proof_says_where_an_extra_copy_never_has_room(quota: object, says: bool) -> None:
    [finding] = co.check(UPDATE.replace("24", str(quota)), select="COH212").findings
    assert finding.verdict == "proved"
    assert ("never lets an extra one start" in finding.message) is says


@pytest.mark.parametrize("lost", [0, 1, 2])
def test_proofs_about_members_that_may_go_take_for_granted_that_no_place_is_gone(lost: int) -> None:
    text = PLACED.replace("count: 5", f"count: 5, lost: {lost}") if lost else PLACED
    findings = co.check(text, select=["COH212", "COH209"]).findings
    assert {finding.verdict for finding in findings} == {"proved"}
    assert all(any("is gone meanwhile" in words for words in finding.assumptions) is bool(lost) for finding in findings)


@pytest.mark.parametrize(("failing", "said"), [("", False), (", failing: 0", False), (", failing: 3", True)])
def test_an_update_beside_members_that_fail_together_takes_for_granted_that_none_does(failing: str, said: bool) -> None:
    text = PLACED.replace("copies: 5", f"copies: 5{failing}")
    [finding] = co.check(text, select="COH212").findings
    assert ("none of web fails" in finding.assumptions) is said
