"""Times of tries that fail."""

from __future__ import annotations

import pytest

from coherence.checking.fact_kinds import fast_failures
from tests.checking.fact_kinds.asking import asks, lacks

CALL = "calls: [{from: clients, to: web, deadline: 2 s, tries: 3, per_try: 1 s, retry_when: [%s]%s}]\n"


@pytest.mark.parametrize(
    ("cause", "words"),
    [
        ("unavailable", 'grpc_response_status="14"'),
        ("503", 'response_code=~"503"'),
        ("5xx", 'response_code=~"5.."'),
        ("connect_failure", ""),
    ],
)
def test_each_cause_has_its_status_or_none(cause: str, words: str) -> None:
    (fact,) = lacks(fast_failures, CALL % (cause, ""), "COH201", "clients -> web").values()
    assert fact.path == ("calls", "clients -> web", "fails", cause)
    queries = asks(fast_failures, fact)
    assert all('reporter="source"' not in query for query in queries)  # all tries together
    assert (words in queries[0]) if words else not queries


def test_what_is_stated_or_is_the_limit_itself_is_not_asked_for() -> None:
    assert not lacks(fast_failures, CALL % ("unavailable", ", fails: {unavailable: 3 ms}"), "COH201", "clients -> web")
    assert not lacks(fast_failures, CALL % ("timeout", ""), "COH201", "clients -> web")
