"""Serves requests by `copies` workers behind one queue, for the testbed.  Runs alone: the standard library, and grpcio
where the settings say `protocol: grpc`.

    python backend.py settings.json

Settings: port, control (port), copies, family (exponential, gamma, constant, uniform or lognormal), mean (s), cv,
on_timeout (abandon | cancel), seed, services (how many times are drawn; they are used in turn, and again),
protocol (http | grpc).

A try is `GET /<request number>`, or a unary call whose message is the number; it waits in one FIFO queue and is served
by a worker for the next service time.
Services are timed sleeps with drift correction: the next one begins when the one before *should* have ended, so
a late timer delays an answer but costs no capacity.  `abandon`: a try whose caller left is served to its end;
`cancel`: it leaves the queue, and frees its worker.  `GET /ready` is answered at once.

The control port answers `/pause?seconds=3&at=12345.6` (workers stand still from that instant of
`time.monotonic`, work in service is frozen), `/report` (every try and the lag of the timers) and `/ready`.
"""

from __future__ import annotations

import asyncio
import gc
import json
import math
import random
import sys
import time
from collections import deque
from collections.abc import Callable
from functools import partial
from itertools import count, cycle
from pathlib import Path
from typing import Any, Protocol
from urllib.parse import parse_qs, urlsplit

BACKLOG = 4096
SERVED, WASTED, CANCELLED, OPEN = "served", "wasted", "cancelled", "open"


def service_times(family: str, mean: float, cv: float, seed: int, number: int) -> list[float]:
    """Seconds of `number` services of this mean and coefficient of variation, from an explicit seed."""
    draw = random.Random(f"services {seed}")  # noqa: S311  (reproducible, not secret)
    if family == "constant" or cv == 0:
        return [mean]
    if family == "uniform":
        half = mean * cv * math.sqrt(3)
        return [draw.uniform(mean - half, mean + half) for _ in range(number)]
    if family == "lognormal":
        variance = math.log1p(cv**2)
        return [draw.lognormvariate(math.log(mean) - variance / 2, math.sqrt(variance)) for _ in range(number)]
    shape = 1.0 if family == "exponential" else 1 / cv**2
    return [draw.gammavariate(shape, mean / shape) for _ in range(number)]


class Answerable(Protocol):
    """What a try came on."""

    def answer(self, body: bytes) -> None:
        """Send the answer."""


class Try:
    """One try: when it came, when its service began and ended (monotonic seconds), and how."""

    __slots__ = ("arrived", "began", "connection", "ended", "outcome", "request")

    def __init__(self, request: int, arrived: float, connection: Answerable) -> None:
        self.request, self.arrived, self.connection = request, arrived, connection
        self.began = self.ended = 0.0
        self.outcome = OPEN

    def row(self) -> list[Any]:
        return [self.request, self.arrived, self.began, self.ended, self.outcome]


class Worker:
    """What a worker serves now, and when that should end."""

    __slots__ = ("due", "timer", "work")

    def __init__(self) -> None:
        self.work: Try | None = None
        self.due = 0.0
        self.timer: asyncio.TimerHandle | None = None


class Workers:
    """Workers alike behind one FIFO queue."""

    def __init__(self, settings: dict[str, Any], loop: asyncio.AbstractEventLoop) -> None:
        self.loop = loop
        self.cancels = settings["on_timeout"] == "cancel"
        names = ("family", "mean", "cv", "seed", "services")
        self.times = cycle(service_times(*(settings[name] for name in names)))
        self.workers = [Worker() for _ in range(settings["copies"])]
        self.queue: deque[Try] = deque()
        self.tries: list[Try] = []
        self.pauses: list[tuple[float, float]] = []
        self.lags: list[float] = []
        self.stopped_at: float | None = None

    def arrive(self, one: Try) -> None:
        """A try joins the queue."""
        self.tries.append(one)
        self.queue.append(one)
        self._begin(one.arrived)

    def leave(self, attempt: Try) -> None:
        """The caller of a try has gone."""
        if attempt.outcome != OPEN:
            return
        attempt.outcome = CANCELLED if self.cancels else WASTED
        if self.cancels:
            self._cancel(attempt, time.monotonic())

    def _cancel(self, attempt: Try, now: float) -> None:
        attempt.ended = now
        worker = next((w for w in self.workers if w.work is attempt), None)
        if worker is None:
            self.queue.remove(attempt)
            return
        worker.work = None
        if worker.timer:
            worker.timer.cancel()
        self._begin(now)

    def pause(self, start: float, seconds: float) -> None:
        """Freeze all services at `start`, for so long."""
        self.pauses.append((start, start + seconds))
        self.loop.call_at(start, self._stop, start)
        self.loop.call_at(start + seconds, self._go_on, start + seconds)

    def _stop(self, at: float) -> None:
        self.stopped_at = at
        for worker in self.workers:
            if worker.timer:
                worker.timer.cancel()

    def _go_on(self, at: float) -> None:
        stood = at - (self.stopped_at or at)
        self.stopped_at = None
        for worker in self.workers:
            if worker.work is not None:
                worker.due += stood
                self._wake(worker)
        self._begin(at)

    def _begin(self, at: float) -> None:
        """Free workers take from the queue; their services begin at `at`, or when the try came if later."""
        if self.stopped_at is not None:
            return
        for worker in self.workers:
            if worker.work is None and self.queue:
                worker.work = self.queue.popleft()
                worker.work.began = max(at, worker.work.arrived)
                worker.due = worker.work.began + next(self.times)
                self._wake(worker)

    def _wake(self, worker: Worker) -> None:
        worker.timer = self.loop.call_at(worker.due, self._end, worker)

    def _end(self, worker: Worker) -> None:
        done = worker.work
        if done is None:
            return
        self.lags.append(time.monotonic() - worker.due)
        done.ended, worker.work, worker.timer = worker.due, None, None
        if done.outcome == OPEN:
            done.outcome = SERVED
            done.connection.answer(b"served\n")
        self._begin(worker.due)

    def report(self) -> dict[str, Any]:
        """Returns every try, every pause, and how late the timers were (s)."""
        return {"tries": [attempt.row() for attempt in self.tries], "pauses": self.pauses, "lags": self.lags}


class Connection(asyncio.Protocol):
    """HTTP/1.1 with kept connections: requests without a body, one at a time."""

    def __init__(self, respond: Callable[[str, Connection], bytes | None], leave: Callable[[Try], None]) -> None:
        self.respond, self.leave = respond, leave
        self.buffer = b""
        self.current: Try | None = None
        self.transport: asyncio.Transport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport

    def connection_lost(self, exc: Exception | None) -> None:
        del exc
        if self.current:
            self.leave(self.current)

    def eof_received(self) -> bool:
        return False  # half-closed is closed: the transport closes, and `connection_lost` follows

    def data_received(self, data: bytes) -> None:
        self.buffer += data
        while b"\r\n\r\n" in self.buffer:
            head, _, self.buffer = self.buffer.partition(b"\r\n\r\n")
            words = head.split(b" ", 2)
            path = words[1].decode("ascii", "replace") if len(words) == 3 else "/"
            body = self.respond(path, self)
            if body is not None:
                self.answer(body)

    def answer(self, body: bytes) -> None:
        """Send one answer."""
        self.current = None
        if self.transport and not self.transport.is_closing():
            self.transport.write(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%b" % (len(body), body))


class PendingCall:
    """A unary gRPC call that waits for its answer."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self.body: asyncio.Future[bytes] = loop.create_future()

    def answer(self, body: bytes) -> None:
        """Send the answer, where the caller still waits."""
        if not self.body.done():
            self.body.set_result(body)


async def serve_grpc(workers: Workers, port: int) -> Any:
    """Serve tries as unary calls of any name, whose messages are plain bytes; returns the server."""
    import grpc.aio

    async def called(message: bytes, context: object) -> bytes:
        del context
        pending = PendingCall(workers.loop)
        attempt = Try(int(message), time.monotonic(), pending)
        workers.arrive(attempt)
        try:
            return await pending.body
        except asyncio.CancelledError:
            workers.leave(attempt)
            raise

    class AnyMethod(grpc.GenericRpcHandler):  # type: ignore[misc]
        def service(self, handler_call_details: object) -> Any:
            del handler_call_details
            return grpc.unary_unary_rpc_method_handler(called)

    server = grpc.aio.server(handlers=(AnyMethod(),), options=(("grpc.so_reuseport", 0),))
    server.add_insecure_port(f"127.0.0.1:{port}")
    await server.start()
    return server


def _served(workers: Workers) -> Callable[[str, Connection], bytes | None]:
    numbers = count(-1, -1)  # requests that do not say their number

    def respond(path: str, connection: Connection) -> bytes | None:
        if path == "/ready":
            return b"ready\n"
        name = path[1:]
        number = int(name) if name.isdecimal() else next(numbers)
        connection.current = Try(number, time.monotonic(), connection)
        workers.arrive(connection.current)
        return None

    return respond


def _controlled(workers: Workers) -> Callable[[str, Connection], bytes | None]:
    def respond(path: str, connection: Connection) -> bytes | None:
        del connection
        parts = urlsplit(path)
        query = {name: float(values[0]) for name, values in parse_qs(parts.query).items()}
        if parts.path == "/pause":
            workers.pause(query.get("at", time.monotonic()), query["seconds"])
        return json.dumps(workers.report()).encode() if parts.path == "/report" else b"ready\n"

    return respond


async def serve(settings: dict[str, Any]) -> None:
    """Both ports, for ever."""
    loop = asyncio.get_running_loop()
    workers = Workers(settings, loop)
    ports = [(settings["port"], _served(workers)), (settings["control"], _controlled(workers))]
    over_grpc = settings["protocol"] == "grpc"
    server = await serve_grpc(workers, settings["port"]) if over_grpc else None
    for port, respond in ports[over_grpc:]:
        protocol = partial(Connection, respond, workers.leave)
        await loop.create_server(protocol, "127.0.0.1", port, backlog=BACKLOG)
    await asyncio.Event().wait()
    del server  # it serves as long as it is held


if __name__ == "__main__":
    gc.disable()  # a pause of the collector would be a pause of every worker
    asyncio.run(serve(json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))))
