"""The waiting of each burst: which stretches are looked at apart, and what is decided of each."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from coherence.causal.answers.answer import Section
from coherence.causal.data.index_inputs import ArrivalBurst, IndexInputs
from coherence.causal.data.request_log import RequestLog, request_log
from coherence.causal.sections import queueing
from coherence.causal.session.request_inputs import RequestInputs
from coherence.causal.twins.queueing import INSTABILITY, LEGITIMATE, LOCAL
from tests.causal.sections.contexts import CHAIN, chain, context, lines, tables


def answered(log: RequestLog | None, **facts: Any) -> Section | None:
    """Returns the section for a log of requests."""
    session = context(CHAIN, chain())
    session.__dict__["request_inputs"] = RequestInputs(IndexInputs(log=log, **facts))
    return queueing.answer(session)


def log_of(*, late: float = 0.0, attempts: float = 1.0, rows: int = 401) -> RequestLog:
    """Requests every 25 ms for 10 s that need 20 ms each, and end so much later."""
    came = np.arange(rows) * 0.025
    return request_log(came, np.full(rows, 0.02), came + 0.02 + late, attempts=np.full(rows, attempts))


def stretches(section: Section | None) -> list[tuple[str | None, float | None, float | None]]:
    assert section is not None
    return [(one["service"], one["start"], one["end"]) for one in section.data["decisions"]]


def verdicts(section: Section | None) -> list[str]:
    assert section is not None
    return [one["verdict"] for one in section.data["decisions"]]


def test_a_log_without_bursts_is_decided_as_a_whole() -> None:
    section = answered(log_of(), servers=2)
    assert stretches(section) == [(None, None, None)]
    assert verdicts(section) == [LEGITIMATE]
    assert tables(section)[0].rows[0][0] == "the whole log, without bursts"


@pytest.mark.parametrize(("attempts", "verdict"), [(2.0, INSTABILITY), (1.0, LOCAL)])
def test_waiting_that_no_queue_explains_is_told_with_its_reason(attempts: float, verdict: str) -> None:
    section = answered(log_of(late=5.0, attempts=attempts), servers=400)
    assert verdicts(section) == [verdict]
    assert section is not None
    assert section.data["decisions"][0]["wait_s"] == pytest.approx(5.0)
    assert (lines(section) == []) is (verdict == LOCAL)  # the reason of a local excess stands in the data alone


def test_bursts_after_which_servers_rest_are_decided_apart() -> None:
    bursts = (ArrivalBurst("b", 7.0, 8.0), ArrivalBurst("a", 2.0, 3.0))
    section = answered(log_of(), servers=2, bursts=bursts)
    assert stretches(section) == [("a", 2.0, 3.0), ("b", 7.0, 8.0)]  # in the order of time
    assert [row[0] for row in tables(section)[0].rows] == ["a burst at 2 s", "b burst at 7 s"]


def test_bursts_that_overlap_are_one() -> None:
    bursts = (ArrivalBurst("a", 2.0, 5.0), ArrivalBurst("b", 4.0, 4.5), ArrivalBurst("a", 4.9, 6.0))
    assert stretches(answered(log_of(), servers=2, bursts=bursts)) == [("a and b", 2.0, 6.0)]


@pytest.mark.parametrize(
    ("servers", "expected"),
    [(2, [("a and b", 2.0, 8.0)]), (199, [("a and b", 2.0, 8.0)]), (201, [("a", 2.0, 3.0), ("b", 7.0, 8.0)])],
)
def test_bursts_between_which_the_servers_never_rest_are_one(
    servers: int, expected: list[tuple[str | None, float | None, float | None]]
) -> None:
    """Each request stays 5.02 s, so that about 200 are there at any time."""
    bursts = (ArrivalBurst("a", 2.0, 3.0), ArrivalBurst("b", 7.0, 8.0))
    assert stretches(answered(log_of(late=5.0), servers=servers, bursts=bursts)) == expected


def test_a_decision_needs_a_hundred_requests() -> None:
    assert lines(answered(log_of(rows=99), servers=2)) == ["refused: a decision needs 100 requests"]
    assert verdicts(answered(log_of(rows=100), servers=2)) == [LEGITIMATE]
    last = (ArrivalBurst("a", 2.0, 3.0), ArrivalBurst("b", 9.0, 9.5))  # 41 requests from there to the end
    assert stretches(answered(log_of(), servers=2, bursts=last)) == [("a", 2.0, 3.0)]


def test_more_bursts_than_a_page_holds_are_in_the_data() -> None:
    bursts = tuple(ArrivalBurst(f"s{n}", 0.4 * n, 0.4 * n + 0.1) for n in range(22))
    came = np.arange(10_000) * 0.001
    log = request_log(came, np.full(10_000, 1e-4), came + 1e-4, attempts=1.0)
    section = answered(log, servers=2, bursts=bursts)
    assert len(stretches(section)) == 22
    assert len(tables(section)[0].rows) == 20
    assert "and 2 more, in -o json" in lines(section)


def test_what_is_missing_is_asked_for() -> None:
    (line,) = lines(answered(log_of()))
    assert line == "refused: measure how many servers the latency class may claim (`entitlement` of its workload)"


def test_without_a_log_nothing_is_told() -> None:
    assert answered(None) is None
    assert queueing.answer(context(CHAIN, chain())) is None
