"""Servers of Python, by their flags: how many requests one works on, when it kills a worker, how long it drains.

Gunicorn with sync or threaded workers works on workers x threads requests, kills a worker that is silent for
`--timeout` (with sync workers: one request) and drains for `--graceful-timeout`.  Uvicorn refuses what is above
`--limit-concurrency` and drains for `--timeout-graceful-shutdown`.  Both close an idle connection after `--keep-alive`
or `--timeout-keep-alive`.  Only what is written is stated: a file of settings may say the rest.

SOURCE: Gunicorn documentation (23), Settings: timeout, graceful_timeout, keepalive, workers, threads, worker_class;
Uvicorn documentation (0.30), Settings: limit-concurrency, timeout-keep-alive, timeout-graceful-shutdown.
"""

from __future__ import annotations

from coherence.base import units
from coherence.importers._flags import Flags
from coherence.importers._quantities import integer, respelled, value_of
from coherence.importers._sketch import Sketch, entry
from coherence.language.document import Scalar, Table

DRAIN = "drain"


def read_gunicorn(flags: Flags, sketch: Sketch) -> None:
    """Adds what the workers take, when one is killed, and the drain."""
    kind = flags.last("worker-class") or flags.last("k")
    threads, workers = flags.whole("threads"), flags.whole("workers") or flags.whole("w")
    threaded = (kind is None and threads is not None) or (kind is not None and kind.text == "gthread")
    timeout = flags.whole("timeout", least=0) or flags.whole("t", least=0)
    if workers is not None and (threaded or kind is None or kind.text == "sync"):
        most = (integer(workers) or 1) * (integer(threads) or 1 if threads is not None else 1)
        _ongoing(flags, respelled(workers, str(most)), "wait", sketch)
    if timeout is not None and integer(timeout) and not threaded and (kind is None or kind.text == "sync"):
        _worker_timeout(flags, respelled(timeout, f"{timeout.text} s"), sketch)
    _drain(flags, flags.whole("graceful-timeout"), sketch)
    _keepalive(flags, flags.whole("keep-alive"), sketch)
    flags.remark("not modelled", "max-requests", "max-requests-jitter", "worker-connections", "backlog")
    flags.remark("settings in a file are not read", "config", "c")


def read_uvicorn(flags: Flags, sketch: Sketch) -> None:
    """Adds what the server refuses, and the drain."""
    most = flags.whole("limit-concurrency")
    if most is not None:
        _ongoing(flags, most, "reject", sketch)
    _drain(flags, flags.whole("timeout-graceful-shutdown", least=0), sketch)
    _keepalive(flags, flags.whole("timeout-keep-alive"), sketch)
    flags.remark("not modelled", "limit-max-requests", "backlog", "workers")


def _ongoing(flags: Flags, most: Scalar, full: str, sketch: Sketch) -> None:
    sketch.put_limit(f"{flags.thing}_ongoing", f"{flags.thing}.ongoing", most, full, per="replica")


def _drain(flags: Flags, longest: Scalar | None, sketch: Sketch) -> None:
    if longest is not None:
        sketch.add_activity(flags.thing, DRAIN, respelled(longest, f"0 s .. {longest.text} s"))


def _keepalive(flags: Flags, idle: Scalar | None, sketch: Sketch) -> None:
    """Adds when an idle connection is closed: what reuses it must give it up before."""
    if idle is None:
        return
    sketch.put_timer(
        f"{flags.thing}_keepalive",
        layer="runtime",
        objective="close idle connections",
        start=f"last request of {flags.thing}",
        after=respelled(idle, f"{idle.text} s"),
        then=f"close {flags.thing}.connection",
    )


def _worker_timeout(flags: Flags, after: Scalar, sketch: Sketch) -> None:
    sketch.put_timer(
        f"{flags.thing}_worker_timeout",
        layer="runtime",
        objective="end workers that hang",
        during=f"{flags.thing}.serve",
        after=after,
        then=f"kill {flags.thing}.worker",
    )


def forget_equal_drain(thing: str, grace: Scalar, sketch: Sketch) -> None:
    """Forgets a drain that its server ends at the very end of the grace: the kill then ends nothing more."""
    drain, component = sketch.takes(thing, DRAIN), sketch.get("components", thing)
    takes = component.get("takes") if component is not None else None
    if drain is None or not isinstance(takes, Table):
        return
    if units.quantity(drain.text.partition("..")[2].strip())[0] == value_of(grace):
        sketch.state(thing, "takes", entry(takes.place, {**takes.entries, DRAIN: None}))
