"""Sends an open-loop load, for the testbed.  Runs alone: the standard library, and grpcio for `protocol: grpc`.

    python load.py settings.json

Settings: port, rate (req/s), bursts ([rate, start, lasts] each), lasts (s), start (an instant of `time.monotonic`;
absent: now), give_up (s: what has not been answered then has failed), seed, report (the file to write), protocol
(http | grpc).

Requests are sent at instants of a Poisson process that are drawn beforehand, whether or not earlier ones were
answered (a closed loop would slow down with the system and hide its collapse).  Request n is `GET /n`, or a unary call
with the message n; its status is 200 where it is served, else that of HTTP or of gRPC.
"""

from __future__ import annotations

import asyncio
import gc
import itertools
import json
import random
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

BUFFER = 65536


def arrival_times(rate: float, bursts: Sequence[Sequence[float]], lasts: float, seed: int) -> list[float]:
    """Instants of a Poisson process in [0, lasts); within a burst (rate, start, lasts) it has the burst's rate.

    Unit-rate arrivals in operational time, mapped back through the integral of the rate.
    """
    draw = random.Random(f"arrivals {seed}")  # noqa: S311  (reproducible, not secret)
    times: list[float] = []
    pieces = _pieces(rate, bursts, lasts)
    passed, clock = 0.0, draw.expovariate(1.0)
    for start, end, now in pieces:
        work = (end - start) * now
        while now > 0 and clock < passed + work:
            times.append(start + (clock - passed) / now)
            clock += draw.expovariate(1.0)
        passed += work
    return times


def _pieces(rate: float, bursts: Sequence[Sequence[float]], lasts: float) -> list[tuple[float, float, float]]:
    """Returns (start, end, rate) of every stretch of constant rate; of bursts that overlap the first counts."""
    edges = sorted({0.0, lasts, *(min(lasts, e) for _, start, length in bursts for e in (start, start + length))})
    return [
        (a, b, next((r for r, start, length in bursts if start <= a < start + length), rate))
        for a, b in itertools.pairwise(edges)
    ]


class Client:
    """Kept connections to the proxy; what happened to every request."""

    def __init__(self, settings: dict[str, Any]) -> None:
        self.port: int = settings["port"]
        self.give_up: float = settings["give_up"]
        self.idle: list[tuple[asyncio.StreamReader, asyncio.StreamWriter]] = []
        self.rows: list[list[float]] = []  # request, due, sent, ended, status (0: no answer)

    async def ask(self, number: int, due: float) -> None:
        """One request, to its answer or to when it is given up."""
        sent = time.monotonic()
        try:
            status = await asyncio.wait_for(self._exchange(number), self.give_up)
        except (OSError, ValueError, IndexError, TimeoutError, asyncio.IncompleteReadError, asyncio.LimitOverrunError):
            status = 0
        self.rows.append([number, due, sent, time.monotonic(), status])

    async def _exchange(self, number: int) -> int:
        reader, writer = await self._connection()
        try:
            writer.write(f"GET /{number} HTTP/1.1\r\nHost: testbed\r\n\r\n".encode())
            head = await reader.readuntil(b"\r\n\r\n")
            lines = head.decode("latin-1").lower().split("\r\n")
            fields = {name.strip(): text.strip() for name, _, text in (line.partition(":") for line in lines[1:])}
            await reader.readexactly(int(fields["content-length"]))
            open_still = fields.get("connection") != "close"
        except BaseException:
            writer.close()
            raise
        if open_still:
            self.idle.append((reader, writer))
        else:
            writer.close()
        return int(lines[0].split()[1])

    async def _connection(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        while self.idle:
            reader, writer = self.idle.pop()
            if not reader.at_eof() and not writer.is_closing():
                return reader, writer
            writer.close()
        return await asyncio.open_connection("127.0.0.1", self.port, limit=BUFFER)


class GrpcClient(Client):
    """Unary calls on one channel, which tries nothing again by itself."""

    def __init__(self, settings: dict[str, Any]) -> None:
        super().__init__(settings)
        import grpc.aio

        options = (("grpc.enable_retries", 0), ("grpc.enable_http_proxy", 0))
        self.channel = grpc.aio.insecure_channel(f"127.0.0.1:{self.port}", options=options)
        self.send = self.channel.unary_unary("/testbed.Workers/Serve")
        self.failed: type[Exception] = grpc.aio.AioRpcError

    async def _exchange(self, number: int) -> int:
        try:
            await self.send(b"%d" % number)
        except self.failed as error:
            return int(error.code().value[0])  # type: ignore[attr-defined]
        return 200


async def run(settings: dict[str, Any]) -> dict[str, Any]:
    """Send everything, wait for the last answers; when it began, and every request."""
    client = GrpcClient(settings) if settings["protocol"] == "grpc" else Client(settings)
    start = settings.get("start", time.monotonic())
    tasks = []
    for number, at in enumerate(
        arrival_times(settings["rate"], settings["bursts"], settings["lasts"], settings["seed"]), 1
    ):
        wait = start + at - time.monotonic()
        if wait > 0:
            await asyncio.sleep(wait)
        tasks.append(asyncio.create_task(client.ask(number, start + at)))
    await asyncio.sleep(max(0.0, start + settings["lasts"] - time.monotonic()))
    if tasks:
        await asyncio.wait(tasks, timeout=settings["give_up"])
    return {"start": start, "requests": sorted(client.rows)}


if __name__ == "__main__":
    gc.disable()  # a pause of the collector would delay every request
    given = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
    Path(given["report"]).write_text(json.dumps(asyncio.run(run(given))), encoding="utf-8")
