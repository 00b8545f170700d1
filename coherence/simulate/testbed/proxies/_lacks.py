"""Lists what a proxy without pauses, budgets and deadlines over all tries cannot do."""

from __future__ import annotations

import math
from collections.abc import Iterator

from coherence.simulate.testbed.set_up import SetUp


def plain_retries(name: str, setup: SetUp) -> Iterator[tuple[str, str, str]]:
    """Yields the keys of a call that only a proxy with retry policies can show."""
    route, instead = setup.route, "leave it out in a copy of the design, or use --with envoy"
    if setup.protocol == "grpc":
        yield "call", f"{name} is set up for HTTP/1.1 alone here", "use --with envoy, or leave --protocol out"
    if setup.hops:
        yield "call", f"{name} is set up for one hop here", instead
    if route.hedge_after < math.inf:
        yield "hedge_after", f"{name} sends no second copies", instead
    if route.pause.base > 0 and route.tries > 1:
        yield "pause", f"{name} sends the next try at once: it cannot pause", instead
    if route.budget is not None or route.paced is not None or route.most_retries < math.inf:
        yield "budget", f"{name} has no retry budget", instead
    if route.breaker < math.inf:
        yield "breaker", f"{name} does not reject what is above a number in flight as this limit does", instead
    if route.deadline < route.tries * route.per_try:
        yield "deadline", f"{name} does not end a running try at a deadline over all tries", instead


def milliseconds(seconds: float) -> str:
    """`250ms`; proxies count whole milliseconds."""
    return f"{max(1, round(seconds * 1000))}ms"
