"""Sends a constant open-loop load to the autoscaler's pool.  Runs alone: the standard library only.

    python autoscaler_load.py PORT RATE SECONDS REPORT

Request n is sent at n / RATE seconds after the start, whether or not earlier ones were answered.  In the end REPORT
(a file) holds JSON: how many were sent and answered with 200, and how late they were sent (s, worst and 99 %).
"""

from __future__ import annotations

import asyncio
import json
import sys
import time
from pathlib import Path

GIVE_UP = 3.0  # seconds after which an answer does not count
REQUEST = b"GET / HTTP/1.1\r\nHost: pool\r\n\r\n"


class ConstantLoadClient:
    """Kept connections, and what became of the requests."""

    def __init__(self, port: int) -> None:
        self.port = port
        self.idle: list[tuple[asyncio.StreamReader, asyncio.StreamWriter]] = []
        self.served = 0

    async def ask(self) -> None:
        """One request."""
        try:
            answered = await asyncio.wait_for(self._exchange(), GIVE_UP)
        except (OSError, asyncio.IncompleteReadError):  # a TimeoutError is an OSError
            return
        self.served += answered

    async def _exchange(self) -> bool:
        reader, writer = self.idle.pop() if self.idle else await asyncio.open_connection("127.0.0.1", self.port)
        try:
            writer.write(REQUEST)
            head = (await reader.readuntil(b"\r\n\r\n")).lower()
            size = int(head.partition(b"content-length:")[2].split(b"\r\n")[0] or 0)
            await reader.readexactly(size)
        except BaseException:
            writer.close()
            raise
        if b"connection: close" in head:
            writer.close()
        else:
            self.idle.append((reader, writer))
        return head.split()[1] == b"200"


async def run(port: int, rate: float, seconds: float) -> dict[str, float]:
    """Send everything, wait for the last answers, and tell."""
    client, start = ConstantLoadClient(port), time.monotonic()
    late: list[float] = []
    tasks: set[asyncio.Task[None]] = set()
    for number in range(int(rate * seconds)):
        await asyncio.sleep(max(0.0, start + number / rate - time.monotonic()))
        late.append(time.monotonic() - start - number / rate)
        task = asyncio.create_task(client.ask())
        tasks.add(task)
        task.add_done_callback(tasks.discard)
    if tasks:
        await asyncio.wait(tasks)
    for _, writer in client.idle:
        writer.close()
    late.sort()
    return {"sent": len(late), "served": client.served, "late": late[-1], "late 99 %": late[int(0.99 * len(late))]}


if __name__ == "__main__":
    report = asyncio.run(run(int(sys.argv[1]), float(sys.argv[2]), float(sys.argv[3])))
    Path(sys.argv[4]).write_text(json.dumps(report), encoding="utf-8")
