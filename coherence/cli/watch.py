"""Watch a running system beside its design: indices, drifts, oscillations, changed findings"""

from __future__ import annotations

import math
import time
from typing import TYPE_CHECKING

import click

from coherence.base.errors import UsageError
from coherence.base.outside_text import visible
from coherence.cli._given import refuse_given
from coherence.cli._http_config import http_config_option
from coherence.cli._seconds import seconds_of, time_limit_option
from coherence.cli._width import print_text

if TYPE_CHECKING:
    from coherence.checking.workspace import Entry
    from coherence.watching.monitor import AlertEvent, SystemMonitor
    from coherence.watching.signals import WatchedSystem
    from coherence.watching.watch import Watch

OF_A_RUN = ("http_config", "every", "state", "listen", "webhook", "length", "back", "weeks", "time_limit")


@click.command("watch")
@click.argument("path", type=click.Path())
@click.option("--prometheus", "url", metavar="URL", help="The server that is asked.")
@click.option("--every", default="15 s", show_default=True, metavar="TIME", help="Between two scrapes.")
@click.option("--state", metavar="FILE", help="Keep what is known in this file, so that a restart loses nothing.")
@http_config_option
@click.option("--listen", metavar="HOST:PORT", help="Serve /metrics here, for a Prometheus to scrape.")
@click.option("--webhook", metavar="URL", help="Post each alert that opens or closes here, as JSON.")
@click.option("--for", "length", metavar="TIME", help="End after so long (default: with Ctrl-C).")
@click.option("--back", default="0 s", show_default=True, metavar="TIME", help="First look so far back.")
@click.option("--weeks", type=click.FloatRange(0.01, 1000), default=4.0, show_default=True,
              help="In so many weeks there is one false alarm at most, of all tests together.")  # fmt: skip
@click.option("--rules", metavar="FILE", help="Write alert rules for a Prometheus.")
@click.option("--dashboard", "board", metavar="FILE", help="Write a dashboard for Grafana.")
@time_limit_option(1.0, 30.0, "Of the processor, for each check of the moved design.")
def command(  # noqa: PLR0913  (one parameter per option)
    *, path: str, url: str | None, http_config: str | None, every: str, state: str | None, listen: str | None,
    webhook: str | None, length: str | None, back: str, weeks: float, rules: str | None, board: str | None,
    time_limit: float,
) -> int:  # fmt: skip
    """Watch the system of the design at PATH, by the PromQL of its `telemetry:`.

    Ends with exit code 0, whatever it has seen: alerts go to standard output, to /metrics and to the webhook.
    """
    from coherence.cli._designs import one_entry, system_of
    from coherence.watching.signals import watched_system

    entry = one_entry(path)
    system = watched_system(entry.design, system_of(path, entry))
    _write_files(system, rules, board)
    if url is None:
        refuse_given(OF_A_RUN, "nothing is watched without --prometheus URL")
        if rules is None and board is None:
            raise UsageError("name the server with --prometheus URL, or a file with --rules or --dashboard")
        return 0
    step, looked_back = seconds_of(every, "--every"), seconds_of(back, "--back")
    seconds = math.inf if length is None else seconds_of(length, "--for")
    if not 1 <= step <= 300 or looked_back < 0 or not seconds > 0:
        raise UsageError("--every lies between 1 s and 5 min, and times are not negative")
    watch = _watch(entry, system, (url, http_config), step, (state, webhook, weeks, time_limit))
    for lack in system.lacks:
        click.echo(f"not watched: {visible(lack)}", err=True)
    _run(watch, listen, every=step, seconds=seconds, back=looked_back)
    return 0


def _write_files(system: WatchedSystem, rules: str | None, board: str | None) -> None:
    from coherence.base.output_files import write_output
    from coherence.watching import alert_rules, dashboard

    if rules is not None:
        write_output(rules, alert_rules.alert_rules(system).encode(), mark=alert_rules.MARK)
    if board is not None:
        write_output(board, dashboard.dashboard(system).encode(), mark=dashboard.MARK)


def _watch(
    entry: Entry,
    system: WatchedSystem,
    server: tuple[str, str | None],
    step: float,
    options: tuple[str | None, str | None, float, float],
) -> Watch:
    """Returns the watch, with the state that an earlier run has left."""
    from coherence.causal.telemetry.bounded_http import http_address
    from coherence.causal.telemetry.http_config import http_login
    from coherence.watching.measured_design import measured_design
    from coherence.watching.scrapes import PrometheusSource
    from coherence.watching.watch import Watch
    from coherence.watching.webhook import Webhook

    url, http_config = server
    http_address(url, of="a Prometheus", example="http://localhost:9090")  # what is none is no server that is away
    state, webhook, weeks, time_limit = options
    monitor, waiting, errors = _earlier(state, system, step, weeks)
    moves = measured_design(entry.sources, system, time_limit / 1.5)
    source = PrometheusSource(url, system.queries, step, login=http_login(http_config))
    return Watch(monitor, source, moves, Webhook(webhook, waiting), state, errors)


def _earlier(
    state: str | None, system: WatchedSystem, step: float, weeks: float
) -> tuple[SystemMonitor, list[dict[str, object]], int]:
    from coherence.watching.monitor import SystemMonitor
    from coherence.watching.stored_state import read_state

    earlier = read_state(state, system, step, weeks) if state is not None else None
    if earlier is None:
        return SystemMonitor(system, step, weeks), [], 0
    return earlier[0], list(earlier[1]["waiting"]), earlier[1]["errors"]


def _run(watch: Watch, listen: str | None, *, every: float, seconds: float, back: float) -> None:
    from contextlib import nullcontext

    from coherence.watching.metrics_server import MetricsServer
    from coherence.watching.watch import run

    server = MetricsServer(listen, watch.text) if listen is not None else nullcontext()
    ends = time.time() + seconds
    try:
        with server as serving:
            if isinstance(serving, MetricsServer):
                click.echo(f"/metrics at port {serving.port}", err=True)
            run(watch, every=every, clock=time.time, sleep=time.sleep, ends=ends, back=back, show=_show)
    except KeyboardInterrupt:
        click.echo("", err=True)


def _show(event: AlertEvent | str) -> None:
    """Prints an alert; what went wrong goes to standard error."""
    if isinstance(event, str):
        click.echo(f"{time.strftime('%H:%M:%S')} {visible(event)}", err=True)
        return
    at = time.strftime("%Y-%m-%d %H:%M:%S", time.gmtime(event.time))
    alert, state = event.alert, "opens" if event.opens else "closes"
    print_text(visible(f"{at} UTC {state}: {alert.kind} of {alert.of}: {alert.message}"))
