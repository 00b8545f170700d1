"""Laws of the request-level engine, over programs drawn at random."""

from __future__ import annotations

import math
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coherence.simulate.requests.engine import ACTIONS, Limits, RequestResult, RequestRun, simulate
from coherence.simulate.requests.program import Program, Route
from tests.draws import few
from tests.paths import ROOT
from tests.simulate.requests.programs import one_call, programs, routes

UNTIL = 25.0
LIMITS = Limits(live=5_000, at_once=2_000, events=200_000)


def run(program: Program, seed: int = 1, **options: object) -> RequestResult:
    return simulate(program, seed=seed, until=UNTIL, limits=LIMITS, **options)  # type: ignore[arg-type]


@pytest.mark.slow
@settings(max_examples=few(100), deadline=None)
@given(programs())
def test_requests_are_completed_failed_or_in_flight(program: Program) -> None:
    counts = run(program).counters
    for source in program.sources:
        ended = counts[f"{source.name}.completed"] + counts[f"{source.name}.failed"]
        assert counts[f"{source.name}.arrivals"] == ended + counts[f"{source.name}.in_flight"]


@pytest.mark.slow
@settings(max_examples=100, deadline=None)
@given(programs())
def test_tries_are_served_turned_away_cancelled_or_at_the_station(program: Program) -> None:
    result = run(program)
    for route in program.routes:
        of = {key.removeprefix(f"{route.name}."): v for key, v in result.counters.items()}
        if result.stopped:
            continue
        away = of["rejected"] + of["refused"]
        assert of["tries"] == of["served"] + away + of["cancelled"] + of["lost"] + of["at_station"]
        assert of["tries"] == of["calls"] + of["retries"] + of["hedges"]
        assert of["calls"] == of["succeeded"] + of["gave_up"] + of["dropped"] + of["open"]
        assert 0 <= of["first_in_flight"] <= of["in_flight"] <= of["at_station"] + of["open"]
        assert of["timeouts"] + of["deadlines"] <= of["tries"] + of["calls"]
        assert of["in_flight"] <= max(route.breaker, 0)
        assert of["retries_in_flight"] <= route.most_retries


@pytest.mark.slow
@settings(max_examples=100, deadline=None)
@given(programs())
def test_stations_hold_what_was_sent_to_them_and_has_not_left(program: Program) -> None:
    result = run(program)
    for station in program.stations:
        of = {key.removeprefix(f"{station.name}."): v for key, v in result.counters.items()}
        if result.stopped:
            continue
        assert of["present"] == of["offered"] - of["served"] - of["cancelled"] - of["lost"]
        assert of["present"] == sum(
            result.counters[f"{route.name}.at_station"] for route in program.routes if route.station == station.name
        )
        assert of["busy"] <= of["servers"]
        if not station.batch:
            assert of["present"] == of["queue"] + of["busy"]


@pytest.mark.slow
@settings(max_examples=few(100), deadline=None)
@given(programs())
def test_work_is_neither_created_nor_lost(program: Program) -> None:
    result = run(program)
    for station in program.stations:
        work = {key.removeprefix(f"{station.name}."): v for key, v in result.work.items()}
        settled = work["useful"] + work["wasted"] + work["discarded"]
        assert all(amount >= -1e-9 for amount in work.values())
        assert settled <= work["demanded"] + 1e-9
        if result.counters[f"{station.name}.present"] == 0:
            assert settled == pytest.approx(work["demanded"], abs=1e-9)


@pytest.mark.slow
@settings(max_examples=few(50), deadline=None)
@given(programs(), st.lists(st.floats(0, UNTIL), max_size=4))
def test_the_same_seed_gives_the_same_bits_however_the_time_is_divided(program: Program, stops: list[float]) -> None:
    whole, parts = run(program), RequestRun(program, seed=1, limits=LIMITS)
    for stop in sorted(stops):
        parts.advance(stop)
    parts.advance(UNTIL)
    again = parts.result()
    assert whole == again
    for name in ("source", "start", "end", "tries", "outcome"):
        assert np.array_equal(getattr(whole.requests, name), getattr(again.requests, name))
    assert all(np.array_equal(column, again.series[name]) for name, column in whole.series.items())


@settings(max_examples=60, deadline=None)
@given(routes("call", "pool"), st.sampled_from([0.3, 0.8, 1.7]))
def test_no_request_waits_longer_for_one_try_than_its_limit(route: Route, per_try: float) -> None:
    """And so a lower limit never lets a request wait longer for one try."""
    route = replace(route, per_try=per_try, tries=1, hedge_after=math.inf)
    result = run(one_call(route, rate=3.0))
    assert result.requests.latency.max(initial=0.0) <= per_try * (1 + 1e-12)


@pytest.mark.slow
@settings(max_examples=few(40), deadline=None)
@given(programs())
def test_the_trace_tells_every_failed_try_with_its_cause(program: Program) -> None:
    result = run(program, trace=True)
    assert result.trace is not None
    failed = result.trace.action == ACTIONS.index("try_failed")
    for number, route in enumerate(program.routes):
        causes = np.bincount(result.trace.cause[failed & (result.trace.which == number)], minlength=6)
        of = {key.removeprefix(f"{route.name}."): v for key, v in result.counters.items()}
        assert list(causes[1:3]) + list(causes[4:6]) == [of["timeouts"], of["rejected"], of["refused"], of["deadlines"]]
    assert np.all(np.diff(result.trace.time) >= 0)
    assert result == run(program)


@pytest.mark.slow
@settings(max_examples=few(30), deadline=None)
@given(programs(), st.integers(0, 4))
def test_another_design_sees_the_same_arrivals(program: Program, servers: int) -> None:
    other = replace(program, stations=tuple(replace(s, servers=servers) for s in program.stations))
    one, two = (run(p, sample_every=0.5).series for p in (program, other))
    shared = min(one["time"].size, two["time"].size)
    for source in program.sources:
        assert np.array_equal(one[f"{source.name}.arrivals"][:shared], two[f"{source.name}.arrivals"][:shared])


SCRIPT = """
import hashlib, sys
from hypothesis import given, settings, seed, HealthCheck, Phase
from coherence.simulate.requests.compiled import COMPILES
from coherence.simulate.requests.engine import Limits, simulate
from programs import programs
found = hashlib.sha256()

@seed(7)
@settings(max_examples=12, deadline=None, database=None, phases=[Phase.generate], derandomize=False)
@given(programs())
def add(program):
    result = simulate(program, seed=3, until=12.0, trace=True, limits=Limits(live=2000, at_once=1000, events=20000))
    found.update(repr((sorted(result.counters.items()), sorted(result.work.items()), result.events)).encode())
    for array in (result.requests.start, result.requests.end, result.trace.time, result.trace.cause):
        found.update(array.tobytes())
    found.update(result.stopped.encode())

add()
print(found.hexdigest())
"""


@pytest.mark.slow
def test_compiled_and_plain_python_give_the_same_bits() -> None:
    pytest.importorskip("numba")
    root = os.pathsep.join(map(str, (ROOT, Path(__file__).parent)))
    said = []
    for disabled in ("0", "1"):
        environment = {**os.environ, "NUMBA_DISABLE_JIT": disabled, "PYTHONPATH": root, "PYTHONWARNINGS": "error"}
        done = subprocess.run(
            [sys.executable, "-c", SCRIPT], env=environment, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr[-2000:]
        said.append(done.stdout)
    assert said[0] == said[1]
