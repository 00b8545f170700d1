"""Hops: steps along calls in both directions, what the log does not name passed on the way."""

from __future__ import annotations

from coherence.causal.data.index_inputs import ArrivalBurst
from coherence.causal.twins.bursts import without_those_of_callers
from coherence.causal.twins.hops import UNCONNECTED, called_from, hops


def test_steps_of_a_chain_a_branch_and_what_no_call_joins() -> None:
    calls = [("a", "b"), ("b", "c"), ("a", "d")]
    found = hops(["a", "b", "c", "d", "e"], calls)
    assert found[0].tolist() == [0, 1, 2, 1, UNCONNECTED]
    assert found[2].tolist() == [2, 1, 0, 3, UNCONNECTED]
    assert (found == found.T).all()


def test_a_pool_that_the_log_does_not_name_is_no_step() -> None:
    assert hops(["a", "b"], [("a", "pool"), ("b", "pool")])[0, 1] == 1
    assert hops(["a", "b", "c"], [("a", "x"), ("x", "y"), ("y", "b"), ("b", "c")])[0].tolist() == [0, 1, 2]


def test_without_calls_nothing_is_joined() -> None:
    assert hops(["a", "b"], [])[0].tolist() == [0, UNCONNECTED]


def test_a_burst_of_a_called_service_is_part_of_its_callers() -> None:
    services, calls = ["a", "b", "c"], [("a", "b"), ("b", "c")]
    seen = [ArrivalBurst("a", 10, 20), ArrivalBurst("c", 12, 22), ArrivalBurst("c", 60, 70)]
    assert without_those_of_callers(seen, services, calls, 5.0) == (seen[0], seen[2])
    assert without_those_of_callers(seen, services, [], 5.0) == tuple(seen)


def test_services_that_call_each_other_keep_their_bursts() -> None:
    calls = [("a", "b"), ("b", "a")]
    assert not called_from(["a", "b"], calls).any()
    seen = [ArrivalBurst("a", 10, 20), ArrivalBurst("b", 12, 22)]
    assert without_those_of_callers(seen, ["a", "b"], calls, None) == tuple(seen)
