"""What is run is never below a floor, nor above an upper bound: queues, retries, agents, routing and clocks.

Simulated means carry chance: their examples are fixed (`derandomize`), and the room they are given is about four
standard errors.  What is exact is compared exactly.
"""

from __future__ import annotations

import heapq
import random
from collections.abc import Sequence
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from coherence.minimums.floors import at
from coherence.minimums.registry import entry
from coherence.simulate.requests.engine import RequestResult, simulate
from coherence.simulate.requests.program import Arrivals, Outage, Program, Route, Service, Source, Station
from tests.draws import few

REQUESTS = 30_000
CHANCE = settings(max_examples=8, deadline=None, derandomize=True)
SERVICES = (
    Service(1.0, "constant"), Service(1.0), Service(1.0, "gamma", 0.5), Service(1.0, "hyperexponential", 2.0),
)  # fmt: skip


def floor(name: str, **inputs: object) -> float:
    return float(at(entry(name).bound, inputs))  # type: ignore[arg-type]


def run(stations: Sequence[Station], arrivals: Arrivals, seed: int, *, requests: int = REQUESTS) -> RequestResult:
    """One source; each request goes to all stations at once (one station: a plain queue)."""
    routes = tuple(Route(f"to {station.name}", station.name) for station in stations)
    plan = (tuple(route.name for route in routes),)
    until = requests / arrivals.rate
    return simulate(
        Program((Source("web", arrivals, plan),), tuple(stations), routes), seed=seed, until=until, warmup=until / 20
    )


def mean_time(found: RequestResult) -> float:
    return float(found.requests.latency[found.requests.completed].mean())


@given(
    servers=st.integers(1, 8), load=st.sampled_from([0.5, 0.7, 0.8]), order=st.sampled_from(["fifo", "lifo"]),
    seed=st.integers(0, 99),
)  # fmt: skip
@CHANCE
def test_no_order_that_is_blind_waits_less_than_erlangs_wait(servers: int, load: float, order: str, seed: int) -> None:
    station = Station("pool", servers, Service(1.0), discipline=order)
    found = run([station], Arrivals(rate=load * servers), seed)
    wanted = floor("erlang_wait", servers=servers, rate=load * servers, mean=1)
    assert mean_time(found) - 1 >= wanted * 0.85 - 0.02


@given(servers=st.integers(2, 6), load=st.sampled_from([0.5, 0.8]), seed=st.integers(0, 99))
@CHANCE
def test_separate_queues_wait_longer_than_a_shared_one(servers: int, load: float, seed: int) -> None:
    found = run([Station("own", 1, Service(1.0))], Arrivals(rate=load), seed)  # one of them, with its share
    assert mean_time(found) - 1 >= floor("erlang_wait", servers=servers, rate=load * servers, mean=1)


def shortest_first(load: float, seed: int, requests: int = 60_000) -> float:
    """Mean wait at one server that takes the shortest waiting request first."""
    draws, now, free, total = random.Random(seed), 0.0, 0.0, 0.0  # noqa: S311  (a seeded run)
    arrivals = []
    for _ in range(requests):
        now += draws.expovariate(load)
        arrivals.append((now, draws.expovariate(1.0)))
    waiting: list[tuple[float, float]] = []
    index = 0
    while index < requests or waiting:
        if not waiting:
            free = max(free, arrivals[index][0])
        while index < requests and arrivals[index][0] <= free:
            heapq.heappush(waiting, (arrivals[index][1], arrivals[index][0]))
            index += 1
        length, came = heapq.heappop(waiting)
        total += free - came
        free += length
    return total / requests


@pytest.mark.parametrize("seed", range(3))
def test_an_order_that_knows_the_lengths_beats_the_wait_so_that_is_assumed(seed: int) -> None:
    measured = shortest_first(0.8, seed)
    assert measured < floor("erlang_wait", servers=1, rate=0.8, mean=1) * 0.8
    assert "blind" in entry("erlang_wait").bound.assumptions
    assert "fcfs" in entry("wait_without_variability").bound.assumptions


@given(service=st.sampled_from(SERVICES), load=st.sampled_from([0.4, 0.6, 0.8]), seed=st.integers(0, 99))
@CHANCE
def test_no_service_law_waits_less_than_the_constant_one(service: Service, load: float, seed: int) -> None:
    found = run([Station("pool", 1, service)], Arrivals(rate=load), seed)
    cv = 0.0 if service.family == "constant" else service.cv
    wait = mean_time(found) - 1
    assert wait >= floor("wait_without_variability", load=load, mean=1) * 0.85
    assert wait == pytest.approx(floor("single_server_wait", load=load, mean=1, cv=cv), rel=0.25)


@given(cv=st.sampled_from([0.5, 1.5]), service=st.sampled_from(SERVICES), seed=st.integers(0, 99))
@CHANCE
def test_no_renewal_queue_waits_longer_than_kingmans_bound(cv: float, service: Service, seed: int) -> None:
    load = 0.7
    found = run([Station("pool", 1, service)], Arrivals("gamma", rate=load, cv=cv), seed)
    spread = 0.0 if service.family == "constant" else service.cv
    bound = floor("kingman", rate=load, load=load, arrival_sigma=cv / load, service_sigma=spread)
    assert mean_time(found) - 1 <= bound * 1.15


@given(servers=st.integers(1, 6), load=st.floats(0.5, 1.5), service=st.sampled_from(SERVICES), seed=st.integers(0, 99))
@CHANCE
def test_slots_without_a_queue_lose_erlangs_share_whatever_the_service_law(
    servers: int, load: float, service: Service, seed: int
) -> None:
    found = run([Station("pool", servers, service, room=0)], Arrivals(rate=load * servers), seed)
    lost = 1 - float(found.requests.completed.mean())
    assert lost == pytest.approx(floor("erlang_loss", servers=servers, offered=load * servers), abs=0.02)


@given(servers=st.integers(2, 6), load=st.sampled_from([0.4, 0.6]), seed=st.integers(0, 99))
@CHANCE
def test_the_mean_wait_is_the_share_that_waits_times_their_wait(servers: int, load: float, seed: int) -> None:
    found = run([Station("pool", servers, Service(1.0))], Arrivals(rate=load * servers), seed)
    share = floor("erlang_waiting", servers=servers, offered=load * servers)
    wait = share / (servers * (1 - load))  # those that wait do so exponentially
    assert mean_time(found) - 1 == pytest.approx(wait, rel=0.2, abs=0.025)


@given(load=st.sampled_from([0.3, 0.6, 0.8]), q=st.sampled_from([0.5, 0.9]), seed=st.integers(0, 99))
@CHANCE
def test_quantiles_of_the_time_at_one_server(load: float, q: float, seed: int) -> None:
    found = run([Station("pool", 1, Service(1.0))], Arrivals(rate=load), seed)
    measured = float(np.quantile(found.requests.latency, q))
    assert measured == pytest.approx(floor("sojourn_quantile", service_rate=1, rate=load, q=q), rel=0.2)


@pytest.mark.slow
@given(n=st.integers(1, 12), load=st.sampled_from([0.2, 0.5, 0.8]), seed=st.integers(0, 99))
@CHANCE
def test_a_fork_takes_between_its_floor_and_independent_parts(n: int, load: float, seed: int) -> None:
    stations = [Station(f"part {k}", 1, Service(1.0)) for k in range(n)]
    found = mean_time(run(stations, Arrivals(rate=load), seed, requests=10_000))
    assert found >= floor("fork_join_time", n=n, load=load, mean=1) * 0.88
    assert found <= floor("fork_join_independent", n=n, load=load, mean=1) * 1.12
    if n == 2:
        assert found == pytest.approx(floor("fork_join_two", load=load, mean=1), rel=0.12)


@given(n=st.integers(1, 10_000), load=st.floats(0, 0.99))
@settings(max_examples=100, deadline=None)
def test_the_floor_of_a_fork_is_below_its_upper_bound(n: int, load: float) -> None:
    low = floor("fork_join_time", n=n, load=load, mean=1)
    assert low <= floor("fork_join_independent", n=n, load=load, mean=1) * (1 + 1e-9)
    assert floor("fork_join_time", n=2, load=load, mean=1) <= floor("fork_join_two", load=load, mean=1) * (1 + 1e-9)


@given(load=st.fractions(Fraction(1, 4), 8, max_denominator=6), servers=st.integers(1, 10))
@settings(max_examples=60, deadline=None)
def test_regular_arrivals_do_with_the_load_itself_so_irregular_ones_are_assumed(load: Fraction, servers: int) -> None:
    """One arrival each second of exact length `load`: the backlog stays bounded from ceil(load) servers on."""
    free = [Fraction(0)] * servers
    late = Fraction(0)
    for k in range(60):
        first = min(range(servers), key=free.__getitem__)
        begin = max(free[first], Fraction(k))
        free[first] = begin + load
        late = begin - k
    grows = late > load + 1
    needed = floor("servers_for_load", rate=1, mean=load)
    assert grows <= (servers < needed)
    assert "poisson" in entry("servers_for_load").bound.assumptions


@given(p=st.fractions(0, 1, max_denominator=20), tries=st.integers(1, 6), seed=st.integers(0, 9))
@settings(max_examples=few(15), deadline=None, derandomize=True)
def test_sends_of_a_request_that_is_tried_again(p: Fraction, tries: int, seed: int) -> None:
    draws, sent, runs = random.Random(seed), 0, 6_000  # noqa: S311  (a seeded run)
    for _ in range(runs):
        for _ in range(tries):
            sent += 1
            if draws.random() >= p:
                break
    assert sent / runs == pytest.approx(floor("retry_attempts", p=p, tries=tries), rel=0.08)


@given(p=st.fractions(Fraction(1, 50), Fraction(9, 10), max_denominator=50), nines=st.integers(1, 8))
@settings(max_examples=60, deadline=None)
def test_fewer_retries_do_not_reach_the_availability(p: Fraction, nines: int) -> None:
    wanted = 1 - Fraction(1, 10**nines)
    retries = int(floor("retries_for_availability", p=p, availability=wanted))
    assert 1 - p ** (retries + 1) >= wanted
    assert retries == 0 or 1 - p**retries < wanted


def test_thousands_of_retries_are_counted_exactly() -> None:
    inputs = {"p": Fraction(998, 1000), "availability": 1 - Fraction(1, 10**9)}
    assert floor("retries_for_availability", **inputs) == 10_351


@given(outer=st.integers(1, 4), inner=st.integers(1, 4))
@settings(max_examples=16, deadline=None)
def test_an_outage_is_sent_the_product_of_the_tries(outer: int, inner: int) -> None:
    """Executed: the middle station calls on to one that refuses everything."""
    middle = Station("middle", 50, Service(0.001, "constant"), plan=(("deep",),))
    deep = Station("deep", 1, Service(0.001, "constant"))
    program = Program(
        (Source("web", Arrivals("trace", times=(1.0, 5.0)), (("call",),)),),
        (middle, deep),
        (Route("call", "middle", tries=outer), Route("deep", "deep", tries=inner)),
        (Outage("deep", 0.0, 100.0, "refuse"),),
    )
    found = simulate(program, seed=1, until=50.0)
    assert found.counters["deep.tries"] == 2 * floor("nested_attempts", outer=outer, inner=inner)


@pytest.mark.slow
@given(tries=st.integers(2, 4), share=st.sampled_from([0.7, 1.4]), seed=st.integers(0, 9))
@settings(max_examples=12, deadline=None, derandomize=True)
def test_an_overload_lasts_only_above_the_load_that_is_free_of_it(tries: int, share: float, seed: int) -> None:
    """A pause of 60 s, tries that are still served after they timed out; looked at long after it."""
    rate = 20 * share * floor("overload_free_load", tries=tries)
    program = Program(
        (Source("web", Arrivals(rate=rate), (("call",),)),),
        (Station("pool", 1, Service(0.05, "constant")),),
        (Route("call", "pool", tries=tries, per_try=2.0),),
        (Outage("pool", 50.0, 60.0),),
    )
    found = simulate(program, seed=seed, until=2500.0)
    late = found.requests.start > 2000.0
    served = float(found.requests.completed[late].mean())
    assert (served < 0.5) == (share > 1)


@given(
    deadline=st.fractions(1, 10, max_denominator=6), tries=st.integers(1, 5),
    pause=st.fractions(0, Fraction(1, 5), max_denominator=10), share=st.fractions(Fraction(1, 2), Fraction(3, 2)),
)  # fmt: skip
@settings(max_examples=few(60), deadline=None)
def test_time_outs_fit_a_deadline_exactly_up_to_the_bound(
    deadline: Fraction, tries: int, pause: Fraction, share: Fraction
) -> None:
    longest = at(entry("try_timeout_in_deadline").bound, {"deadline": deadline, "tries": tries, "pause": pause})
    now = Fraction(0)
    for k in range(tries):
        now += share * Fraction(longest) + (pause if k < tries - 1 else 0)
    assert (now <= deadline) == (share <= 1)


@given(first=st.integers(0, 50), added=st.lists(st.integers(0, 30), min_size=0, max_size=12), seed=st.integers(0, 9))
@settings(max_examples=60, deadline=None)
def test_no_run_reads_fewer_tokens_than_those_that_are_new(first: int, added: list[int], seed: int) -> None:
    """At each call some prefix that was read before may be kept; what is sent again lies between the two bounds."""
    draws, read, context, kept = random.Random(seed), 0, 0, 0  # noqa: S311  (a seeded run)
    calls = len(added) + 1
    for new in (first, *added):
        context += new
        read += context - draws.randint(0, kept)
        kept = context
    mean = Fraction(sum(added), max(1, len(added)))
    assert read >= floor("tokens_read_once", calls=calls, first=first, added=mean) - 1e-9
    assert read <= first * calls + sum(a * (calls - 1 - k) for k, a in enumerate(added))


@given(slopes=st.lists(st.tuples(st.floats(0, 5), st.floats(0, 5)), min_size=2, max_size=4), demand=st.floats(0.1, 5))
@settings(max_examples=80, deadline=None)
def test_selfish_flows_on_parallel_paths_lose_at_most_a_third(slopes: list[tuple[float, float]], demand: float) -> None:
    """Latency a + b x on each path; both flows by bisection on the common (marginal) latency."""
    paths = [(a, b + 1e-3) for a, b in slopes]

    def flow(marginal: float) -> list[float]:
        low, high = 0.0, 1e6
        for _ in range(200):
            level = (low + high) / 2
            used = sum(max(0.0, (level - a) / (marginal * b)) for a, b in paths)
            low, high = (level, high) if used < demand else (low, level)
        return [max(0.0, (high - a) / (marginal * b)) for a, b in paths]

    def total(split: list[float]) -> float:
        return sum(x * (a + b * x) for x, (a, b) in zip(split, paths, strict=True))

    assert total(flow(1.0)) <= total(flow(2.0)) * floor("price_of_anarchy", degree=1) * (1 + 1e-6)


@given(adjusted=st.lists(st.fractions(-2, 2, max_denominator=8), min_size=2, max_size=6))
@settings(max_examples=few(60), deadline=None)
def test_no_adjustment_of_clocks_is_close_in_all_runs_that_look_alike(adjusted: list[Fraction]) -> None:
    n = len(adjusted)
    runs = ([c - (1 if i < k else 0) for i, c in enumerate(adjusted)] for k in range(n))
    worst = max(max(clocks) - min(clocks) for clocks in runs)
    assert worst >= floor("clock_synchronisation", uncertainty=1, n=n) - 1e-12
