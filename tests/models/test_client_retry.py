"""The retrying clients against their own formulas: when each try of a call that always fails is sent.

Each formula is written from the client's source and takes the random numbers that the engine draws.  Every send lies
between the shortest and the longest schedule by which questions about calls judge.
SOURCE: gRFC A6, Retry Policy, Exponential Backoff, before and after grpc/proposal 452; botocore 1.34,
retries/standard.py, ExponentialBackoff (2.0); Boto3 documentation, Retries, legacy mode; openai-python 1.x,
_base_client.py, _calculate_retry_timeout; Envoy 1.40, JitteredExponentialBackOffStrategy, in whole milliseconds there;
nginx 1.27, ngx_http_upstream_next: at once; HAProxy 2.6 to 3.5, backend.c, back_handle_st_cer: the turn-around time
before a refused connection is tried again on the same server.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from fractions import Fraction

import pytest

from coherence.language.reading import read_text
from coherence.simulate.processes.flow import flow_of
from coherence.simulate.processes.routes import routes_of
from coherence.simulate.requests.draws import uniform
from coherence.simulate.requests.engine import ACTIONS, simulate
from coherence.simulate.requests.program import Arrivals, Outage, Program, Route, Service, Source, Station
from coherence.verify.calls.attempts import start
from coherence.verify.calls.retry_policies import retry_policy_of
from tests.draws import source, trace_counts

NAME, PER_TRY = "users -> web", 50.0
Formula = Callable[[int, float], float]  # (number of the retry, random number in 0..1) -> seconds
# base, factor and cap of a drawn policy, in ms
BASES, FACTORS, CAPS = (20, 100, 500, 1000), (1, 1.5, 2, 3), (100, 500, 1000, 20_000)


def formula(part: str, base: float, factor: float, cap: float) -> Formula:
    """Returns the pause before each retry as the client computes it."""
    if part == "grpc_retry":
        return lambda n, u: u * min(base * factor ** (n - 1), cap)
    if part == "grpc_retry_2024":
        return lambda n, u: (0.8 + 0.4 * u) * min(base * factor ** (n - 1), cap)
    if part == "sdk_retry":
        return lambda n, u: u * min(2 ** (n - 1), 20)
    if part == "sdk_retry_legacy":
        return lambda n, u: u * 2 ** (n - 1)
    if part == "openai_sdk_retry":
        return lambda n, u: min(0.5 * 2.0 ** (n - 1), 8.0) * (1 - 0.25 * (1 - u))
    if part == "nginx_next_upstream":
        return lambda _n, _u: 0.0
    if part == "haproxy_retry":
        return lambda _n, _u: min(cap, 1.0)  # timeout connect, or one second
    return lambda n, u: u * min(base * 2 ** (n - 1), 10 * base)


def stated(part: str, base: float, factor: float, cap: float) -> str:
    """Returns what a design says of the pause: nothing where the client has constants."""
    if part.startswith("grpc"):
        return f", pause: {{base: {base * 1000:g} ms, factor: {factor}, cap: {cap * 1000:g} ms}}"
    if part == "haproxy_retry":
        return f", pause: {cap * 1000:g} ms" if cap < 1 else ""
    return f", pause: {{base: {base * 1000:g} ms}}" if part.startswith(("envoy", "istio")) else ""


PARTS = (
    "grpc_retry", "grpc_retry_2024", "sdk_retry", "sdk_retry_legacy", "openai_sdk_retry", "envoy_retry", "istio_retry",
    "nginx_next_upstream", "haproxy_retry",
)  # fmt: skip


def sends(route: Route, takes: float) -> list[float]:
    """Returns when the engine sends the tries of one request whose answers are all errors after `takes` seconds."""
    stations = (
        Station("web", 9, Service(takes, "constant"), plan=(("deep",),)),
        Station("deep", 9, Service(0.0, "constant")),
    )
    source = Source("users", Arrivals("trace", times=(0.0,)), ((NAME,),))
    outage = Outage("deep", 0.0, 1e9, "refuse")
    program = Program((source,), stations, (route, Route("deep", "deep")), (outage,))
    trace = simulate(program, seed=1, until=1e6, sample_every=math.inf, trace=True).trace
    assert trace is not None
    sent = zip(trace.time.tolist(), trace.action.tolist(), trace.which.tolist(), strict=True)
    return [time for time, action, which in sent if ACTIONS[action] == "sent" and which == 0]


def plain(tries: int, takes: float, pause: Formula) -> Iterator[float]:
    """Yields when the client sends them."""
    draws, now = uniform(1, f"jitter of {NAME}")(tries), 0.0
    for number in range(1, tries + 1):
        yield now
        now += takes + pause(number, float(draws[number - 1]))


@pytest.mark.parametrize("part", PARTS)
@trace_counts(30, parts=100, of=PARTS)
def test_the_tries_are_sent_when_the_client_sends_them(part: str, traces: int) -> None:
    rng = source(11)
    for _ in range(traces):
        base, factor, cap = rng.choice(BASES) / 1000, rng.choice(FACTORS), rng.choice(CAPS) / 1000
        tries, takes = rng.randint(2, 5 if part.startswith("grpc") else 8), rng.choice([0.0, 0.01, 0.3, 2.0])
        text = (
            f"coherence: 1\nworkload: {{users: {{rate: 5 req/s}}}}\ncomponents: {{web: {{}}}}\n"
            f"calls: [{{uses: {part}, from: users, to: web, tries: {tries}, deadline: unlimited, per_try: {PER_TRY} s, "
            f"on_timeout: cancel, retry_when: [unavailable], fails: {{unavailable: {takes} s}}"
            f"{stated(part, base, factor, cap)}}}]\n"
        )
        design = read_text(text)
        (route,) = routes_of(design, flow_of(design), [], [])
        times = list(plain(tries, takes, formula(part, base, factor, cap)))
        assert sends(route, takes) == pytest.approx(times, abs=1e-9), text
        policy = retry_policy_of(design.calls[0])
        (cause,) = policy.known()
        for number, time in enumerate(times, 1):
            first, last = start(policy.best(cause), number), start(policy.worst(cause), number)
            assert first is not None
            assert last is not None
            assert first - Fraction(1, 10**9) <= time <= last + Fraction(1, 10**9), (text, number)
