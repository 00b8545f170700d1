"""What the indices read of a log, a design and bands of loops: servers, classes, windows, actions; by hand."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from coherence.causal.data.series import Series
from coherence.causal.session.request_inputs import PERIODS, RequestInputs, bands, request_inputs, tubes_of
from coherence.language.reading import read_text
from coherence.model.elaborate import elaborate

LOOPS = """components: {plant: {state: "x' = 0.5 * x + job.v", step: 1 s, from: 0}}
loops:
  act: {timescale: {period: 2 s}, trigger: x < 3, actuation: {signal: job.v, law: step, by: 1, bounds: [0, 9]}}
  slow: {timescale: {period: 30 s}, trigger: x > 3, actuation: {signal: far.v, law: step, by: 1, bounds: [0, 9]}}
"""
NAN = float("nan")
SERIES = Series(
    ("job.v", "job.v.low", "job.v.high", "far.v"),
    np.array([[1.0, 0.0, 4.0, 1.0], [3.0, 0.0, 4.0, 1.0], [3.0, NAN, 4.0, 1.0], [2.0, 0.0, 4.0, 2.0]]),
    10.0,
)
NOTHING = Series(("a",), np.zeros((2, 1)), 1.0)


def inputs(
    workload: str, *, log: Path | None = None, series: Series = NOTHING, more: str = "",
    window: tuple[float, float] | None = None,
) -> RequestInputs | None:  # fmt: skip
    design = read_text(f"coherence: 1\nworkload: {{{workload}}}\n{more}")
    return request_inputs(design, elaborate(design), series, log=str(log) if log else None, window=window)


@pytest.fixture
def log(tmp_path: Path) -> Path:
    path = tmp_path / "log.csv"
    rows = [f"{n},0.5,{n + 0.75},{'chat' if n % 2 else 'batch'}" for n in range(10)]
    path.write_text("\n".join(["arrival,need,end,class", *rows]) + "\n")
    return path


def test_without_a_log_and_a_band_there_is_nothing() -> None:
    assert inputs("users: {rate: 5 req/s}") is None


def test_a_band_of_a_loop_is_a_tube_and_its_changes_are_actions() -> None:
    found = inputs("users: {rate: 5 req/s}", series=SERIES, more=LOOPS)
    assert found is not None
    (tube,) = found.facts.tubes
    assert (tube.name, tube.times.tolist(), tube.values.tolist()) == ("job.v", [0, 10, 30], [1, 3, 2])
    assert (tube.low.tolist(), tube.high.tolist()) == ([0, 0, 0], [4, 4, 4])  # without the time that lacks one
    actions = [(one.time, one.loop, one.quantity, one.change) for one in found.facts.actions]
    assert actions == [(10, "act", "job.v", 2), (30, "act", "job.v", -1)]  # far.v has no band
    assert found.facts.horizon == PERIODS * 30
    model = elaborate(read_text(f"coherence: 1\n{LOOPS}"))
    assert bands(model, SERIES) == ("job.v.low", "job.v.high")
    assert tubes_of(model, SERIES.of(["job.v", "job.v.low"])) == ((), ())


def test_a_signal_of_two_loops_has_no_one_who_acted() -> None:
    two = LOOPS.replace("far.v", "job.v")
    found = inputs("users: {rate: 5 req/s}", series=SERIES, more=two)
    assert found is not None
    assert found.facts.actions == ()


@pytest.mark.parametrize(
    ("workload", "name", "servers"),
    [
        ("chat: {rate: 1 req/s, entitlement: 3}, batch: {rate: 1 req/s}", "chat", 3),
        ("chat: {rate: 1 req/s, deadline: 2 s}, batch: {rate: 1 req/s}", "chat", None),
        ("chat: {rate: 1 req/s, deadline: 2 s}, batch: {rate: 1 req/s, entitlement: 4}", "batch", 4),
        ("chat: {rate: 1 req/s, deadline: 2 s}, batch: {rate: 1 req/s, deadline: 3 s}", None, None),
        ("chat: {rate: 1 req/s, entitlement: 3}, batch: {rate: 1 req/s, entitlement: 4}", None, None),
        ("chat: {rate: 1 req/s, entitlement: 0.5}, batch: {rate: 1 req/s}", "chat", None),
        ("chat: {rate: 1 req/s, entitlement: 2 .. 3}, batch: {rate: 1 req/s, deadline: 1 s}", "batch", None),
        ("other: {rate: 1 req/s, deadline: 2 s}, chat: {rate: 1 req/s}", None, None),
    ],
)
def test_the_class_of_an_entitlement_or_else_of_a_deadline_is_looked_at(
    log: Path, workload: str, name: str | None, servers: int | None
) -> None:
    found = inputs(workload, log=log)
    assert found is not None
    assert (found.facts.latency_class, found.facts.servers) == (name, servers)
    if servers is None:
        assert "entitlement" in found.notes[0]
    else:
        assert found.notes == ()


@pytest.mark.parametrize(
    ("tiers", "servers", "provisioned"),
    [
        ("infrastructure: {tiers: {gpus: {count: 8}}}\n", 8, 8),
        ("infrastructure: {tiers: {gpus: {count: 8}, more: {count: 4}}}\n", None, 12),
        ("infrastructure: {tiers: {gpus: {count: 8}, more: {count: 4 .. 5}}}\n", None, None),
        ("", None, None),
    ],
)
def test_one_workload_on_one_tier_may_claim_all_its_devices(
    log: Path, tiers: str, servers: int | None, provisioned: int | None
) -> None:
    found = inputs("chat: {rate: 1 req/s}", log=log, more=tiers)
    assert found is not None
    assert found.facts.servers == servers
    assert found.facts.provisioned == provisioned
    assert ("8 servers, all gpus" in found.notes[0]) is (servers == 8)


@pytest.mark.parametrize(
    ("workload", "deadlines"),
    [
        ("chat: {rate: 1 req/s, deadline: 2 s}", {"chat": 2, "batch": np.inf}),
        ("chat: {rate: 1 req/s, deadline: 2 s}, batch: {rate: 1 req/s}", {"chat": 2, "batch": np.inf}),
        ("chat: {rate: 1 req/s, deadline: 2 s}, batch: {rate: 1 req/s, deadline: 3 s}", {"chat": 2, "batch": 3}),
        ("users: {rate: 1 req/s, deadline: 2 s}", {"chat": 2, "batch": 2}),  # names of its own: all are of users
        ("chat: {rate: 1 req/s, deadline: 2 s .. 3 s}", None),
        ("chat: {rate: 1 req/s}", None),
    ],
)
def test_deadlines_of_a_log_without_them_are_those_of_the_workloads_of_its_classes(
    log: Path, workload: str, deadlines: dict[str, float] | None
) -> None:
    found = inputs(workload, log=log)
    assert found is not None
    requests = found.facts.log
    assert requests is not None
    assert ("deadline" in requests.lacks) is (deadlines is None)
    names = [requests.classes[number] for number in requests.work_class]
    if deadlines is not None:
        assert requests.deadline.tolist() == [deadlines[name] for name in names]


def test_services_that_are_workloads_are_the_classes_of_a_log_without_classes(log: Path) -> None:
    log.write_text(log.read_text().replace("class", "service"))
    both = "chat: {rate: 1 req/s, deadline: 2 s, entitlement: 3}, batch: {rate: 1 req/s}"
    found = inputs(both, log=log)
    assert found is not None
    assert found.facts.log is not None
    assert (found.facts.latency_class, found.facts.log.classes) == ("chat", ("batch", "chat"))
    other = inputs("chat: {rate: 1 req/s}", log=log)
    assert other is not None
    assert other.facts.log is not None
    assert "class" in other.facts.log.lacks  # one of the services is nothing of the design's


SERVED = """components: {pool: {copies: 4, rate_per_copy: 2 req/s}, store: {copies: 2, rate_per_copy: 9 req/s}}
calls: [{from: users, to: pool}]
"""


@pytest.mark.parametrize(
    ("more", "servers"),
    [
        (SERVED, 4),
        (SERVED.replace("}]", "}, {from: pool, to: store}]"), None),  # two that requests wait for
        (SERVED.replace("copies: 4", "copies: 4 .. 5"), None),
    ],
)
def test_the_servers_of_the_only_thing_that_requests_wait_for_are_taken(
    log: Path, more: str, servers: int | None
) -> None:
    log.write_text(log.read_text().replace("batch", "users").replace("chat", "users"))
    found = inputs("users: {rate: 5 req/s, service: 100 ms}", log=log, more=more)
    assert found is not None
    assert found.facts.servers == servers
    assert ("4 servers, all of pool" in found.notes[0]) is (servers == 4)


def test_only_arrivals_within_the_window_are_looked_at(log: Path) -> None:
    found = inputs("chat: {rate: 1 req/s}", log=log, window=(2.0, 5.0))
    assert found is not None
    assert found.facts.log is not None
    assert found.facts.log.arrival.tolist() == [2, 3, 4]
    assert found.facts.log.until == 5
    late = inputs("chat: {rate: 1 req/s}", log=log, window=(50.0, 60.0))
    assert late is not None
    assert late.facts.log is None
    assert late.notes[0].startswith("no request of the log arrived at 50..60 s: the log is from 0 to ")
