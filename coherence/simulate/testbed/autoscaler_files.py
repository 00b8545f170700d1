"""Renders the configuration of the autoscaler testbed: HAProxy with its exporter, and Prometheus.

The metric is the proxy's: requests it was asked over replicas it uses.  Prometheus scrapes both every `scrape`.  A
mean over `window` is asked for in steps finer than a scrape, which is the mean over time of what was scraped; in
steps of a scrape it would forget part of a stair.  The load is constant, so its own rate may be taken over longer.

SOURCE: HAProxy 2.6 management guide (stats socket, `set server`), its prometheus-exporter service; Prometheus
documentation, Configuration (scrape_config), Querying basics (subqueries), Functions (rate, avg_over_time).
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

from coherence.simulate.testbed.autoscaler_set_up import AutoscalerSetUp
from coherence.simulate.testbed.processes import LOOPBACK

PROXY, METRICS, SOCKET = "haproxy.cfg", "prometheus.yml", "haproxy.sock"
STEPS = 100  # of a mean, per scrape

_HAPROXY = """\
# {pool}: at most {most} replicas, put in and taken out through the runtime API
global
    stats socket {socket} mode 600 level admin
    maxconn 2000
    nbthread 1
    hard-stop-after 1s

defaults
    mode http
    timeout connect 1s
    timeout client 1m
    timeout server 5s
    retries 2
    option redispatch 1
    http-reuse always

frontend service
    bind {host}:{service}
    default_backend {pool}

frontend exporter
    bind {host}:{exporter}
    http-request use-service prometheus-exporter if {{ path /metrics }}

backend {pool}
    balance roundrobin
    server-template replica- 1-{most} {host}:1 disabled
"""

_PROMETHEUS = """\
# {loop} reads: {query}
global:
  scrape_interval: {scrape}
  scrape_timeout: {scrape}

scrape_configs:
  - job_name: {pool}
    params: {{scope: [backend]}}
    static_configs:
      - targets: ["{host}:{exporter}"]
"""


@dataclass(frozen=True)
class AutoscalerPorts:
    """Of loopback: for the load, for Prometheus to scrape, and Prometheus' own."""

    service: int
    exporter: int
    prometheus: int


def files(setup: AutoscalerSetUp, ports: AutoscalerPorts, folder: Path) -> dict[str, str]:
    """Name -> text."""
    pool = proxied(setup.pool)
    names = {"pool": pool, "host": LOOPBACK, "service": ports.service, "exporter": ports.exporter}
    return {
        PROXY: _HAPROXY.format(**names, most=setup.behaviour.highest, socket=folder / SOCKET),
        METRICS: _PROMETHEUS.format(
            **names, loop=setup.loop, query=query(setup), scrape=milliseconds(setup.plant.scrape)
        ),
    }  # fmt: skip


def proxied(name: str) -> str:
    """Returns the proxy's name of a pool: apart from those of its frontends."""
    return f"pool_{name}"


def query(setup: AutoscalerSetUp) -> str:
    """Returns the metric in PromQL."""
    plant, pool = setup.plant, f'{{proxy="{proxied(setup.pool)}"}}'
    share = f" / {float(plant.rate_per_replica):g}" if plant.utilization else ""
    rate = f"sum(rate(haproxy_backend_http_requests_total{pool}[{milliseconds(rate_window(setup))}]))"
    usage = f"{rate} / {active(setup)}{share}"
    if not plant.window:
        return usage
    return f"avg_over_time(({usage})[{milliseconds(plant.window)}:{milliseconds(plant.scrape / STEPS)}])"


def active(setup: AutoscalerSetUp) -> str:
    """Returns the replicas that the proxy uses, in PromQL."""
    return f"sum({gauge(setup)})"


def gauge(setup: AutoscalerSetUp) -> str:
    """Returns the series of the same."""
    return f'haproxy_backend_active_servers{{proxy="{proxied(setup.pool)}"}}'


def rate_window(setup: AutoscalerSetUp) -> Fraction:
    """Over which the load's rate is taken (s): four scrapes, so that one request more or less is little."""
    return 4 * setup.plant.scrape


def milliseconds(time: Fraction) -> str:
    """Returns a duration as both programs write it."""
    return f"{round(time * 1000)}ms"


def commands(folder: Path, ports: AutoscalerPorts, *, haproxy: str, prometheus: str) -> dict[str, list[str]]:
    """Name -> command of the two, both in the foreground."""
    return {
        "haproxy": [haproxy, "-db", "-f", PROXY],
        "prometheus": [
            prometheus, f"--config.file={METRICS}", f"--storage.tsdb.path={folder / 'tsdb'}",
            f"--web.listen-address={LOOPBACK}:{ports.prometheus}", "--log.level=warn",
        ],
    }  # fmt: skip
