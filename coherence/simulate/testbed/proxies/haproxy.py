"""HAProxy: `retries` with `retry-on response-timeout`; `timeout server` bounds each try.

SOURCE: HAProxy configuration manual 2.6: retries (counts those after the first), retry-on, option redispatch,
http-reuse, timeout server.  Without maxconn on the server nothing queues in the proxy.
"""

from __future__ import annotations

from collections.abc import Iterator

from coherence.simulate.testbed.processes import LOOPBACK
from coherence.simulate.testbed.proxies._lacks import milliseconds, plain_retries
from coherence.simulate.testbed.proxy import Ports
from coherence.simulate.testbed.set_up import SetUp

NAME = "haproxy"
BINARY = "haproxy"
INSTALL = "Debian package haproxy"
FILE = "haproxy.cfg"

_TEXT = """\
# {route}: {tries} {noun} of {per_try}; time-outs are tried again without pause
global
    maxconn 8000
    nbthread 1

defaults
    mode http
    timeout connect {per_try}
    timeout client 10m
    timeout http-keep-alive 10m
    timeout server {per_try}
    option redispatch 1
    retries {retries}
    retry-on {again}
    http-reuse always

frontend clients
    bind {host}:{port}
    default_backend workers

backend workers
    server backend {host}:{backend}
"""


def lacks(setup: SetUp) -> Iterator[tuple[str, str, str]]:
    """Pauses, budgets, breakers and binding deadlines."""
    yield from plain_retries(NAME, setup)


def files(setup: SetUp, ports: Ports) -> dict[str, str]:
    """haproxy.cfg."""
    route = setup.route
    text = _TEXT.format(
        route=route.name,
        tries=route.tries,
        noun="try" if route.tries == 1 else "tries",
        per_try=milliseconds(route.per_try),
        retries=route.tries - 1,
        again="response-timeout" if route.tries > 1 else "none",
        host=LOOPBACK,
        port=ports.proxy,
        backend=ports.backend,
    )
    return {FILE: text}


def command(path: str) -> list[str]:
    """In the foreground (-db), as one process."""
    return [path, "-db", "-f", FILE]


def checker(path: str) -> list[str]:
    """HAProxy's own check."""
    return [path, "-c", "-f", FILE]
