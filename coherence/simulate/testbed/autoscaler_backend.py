"""Serves one replica of the autoscaler's pool.  Runs alone: the standard library only.

    python autoscaler_backend.py PORT SERVICE

Answers every HTTP request on PORT of loopback, one after the other, each after SERVICE seconds of service.  An
end of service is reckoned from when the one before *should* have ended, so late timers cost no capacity.
"""

from __future__ import annotations

import asyncio
import sys
import time
from collections.abc import Callable

ANSWER = b"HTTP/1.1 200 OK\r\nContent-Length: 7\r\n\r\nserved\n"


def in_turn(service: float) -> Callable[[float], float]:
    """now -> when a request that comes now is done (s): first come, first served, by one worker."""
    free = 0.0

    def ends(now: float) -> float:
        nonlocal free
        free = max(now, free) + service
        return free

    return ends


class ReplicaConnection(asyncio.Protocol):
    """HTTP/1.1 with kept connections; requests have no body."""

    def __init__(self, ends: Callable[[float], float]) -> None:
        self.ends = ends
        self.buffer = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport

    def data_received(self, data: bytes) -> None:
        self.buffer += data
        while b"\r\n\r\n" in self.buffer:
            self.buffer = self.buffer.partition(b"\r\n\r\n")[2]
            asyncio.get_running_loop().call_at(self.ends(time.monotonic()), self._answer)

    def _answer(self) -> None:
        if not self.transport.is_closing():
            self.transport.write(ANSWER)


async def serve(port: int, service: float) -> None:
    """For ever."""
    ends = in_turn(service)
    loop = asyncio.get_running_loop()
    async with await loop.create_server(lambda: ReplicaConnection(ends), "127.0.0.1", port, backlog=1024):
        await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(serve(int(sys.argv[1]), float(sys.argv[2])))
