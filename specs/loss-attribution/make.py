# ruff: noqa: INP001  (a script beside its design)
"""Telemetry of this design with known causes: `python make.py` writes telemetry.csv and requests.csv beside it."""

from __future__ import annotations

import heapq
from pathlib import Path

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
HERE = Path(__file__).parent
STEP, ROWS = 15, 960
INCIDENT = slice(880, 920)  # the network stalls longer for ten minutes, from 13,200 s


def wandering(rng: np.random.Generator, memory: float, size: float) -> Floats:
    """Noise that remembers its past."""
    found = rng.normal(0, size, ROWS)
    for time in range(1, ROWS):
        found[time] += memory * found[time - 1]
    return found


def signals(rng: np.random.Generator) -> dict[str, Floats]:
    """Every signal by the law that it follows."""
    chat = 260 + wandering(rng, 0.9, 3)
    stall = 25 + wandering(rng, 0.9, 0.8)
    stall[INCIDENT] += 14
    length = 2 + wandering(rng, 0.9, 0.04)
    backup = 20 + wandering(rng, 0.9, 2)
    misses = 40 * length + wandering(rng, 0.5, 2)
    trim = rng.normal(0, 1, ROWS)
    wait, window = wandering(rng, 0.5, 2), np.full(ROWS, 49.0)
    for time in range(ROWS):
        if time:
            window[time] = min(0.2 * wait[time - 1] + trim[time], 200)
        wait[time] += 0.9 * chat[time] + 0.25 * window[max(time - 1, 0)]
    timeouts = 0.02 * wait + wandering(rng, 0.3, 0.1)
    h100 = {
        "useful.chat": 0.9 * chat / 10, "useful.embed": 4.2 + wandering(rng, 0.5, 0.05),
        "barrier": 0.18 * stall + 0.02 * backup + wandering(rng, 0.4, 0.05),
        "recompute": 0.04 * misses + wandering(rng, 0.4, 0.05),
        "batch_window": 0.07 * window + wandering(rng, 0.4, 0.05),
        "superseded": 0.25 * timeouts + wandering(rng, 0.4, 0.03), "idle_stranded": 1.5 + wandering(rng, 0.5, 0.05),
    }  # fmt: skip
    a100 = {
        "useful.chat": 0.1 * chat / 4, "useful.embed": 12.5 + wandering(rng, 0.5, 0.1),
        "barrier": 0.05 * stall + wandering(rng, 0.4, 0.03),
    }  # fmt: skip
    made = {
        "chat.attempts": chat, "network.stall": stall, "prompts.length": length, "backup.traffic": backup,
        "cache.misses": misses, "gateway.wait": wait, "gateway.timeouts": timeouts, "batch.window": window,
    }  # fmt: skip
    for name, count, states in (("h100", 48, h100), ("a100", 24, a100)):
        rounded = {state: np.round(levels, 3) for state, levels in states.items()}
        rounded["idle_slack"] = count - np.sum(list(rounded.values()), axis=0)
        made |= {f"{name}.{state}": levels for state, levels in rounded.items()}
    return made


def requests(rng: np.random.Generator, count: int = 2400, servers: int = 24) -> list[tuple[float, float, float, str]]:
    """Chat on 24 servers that take 12 % longer than needed, first come first served: (arrival, need, end, service)."""
    came = np.cumsum(rng.exponential(1 / 200, count))
    need = rng.gamma(8, 0.1 / 8, count)
    free = [0.0] * servers
    made = []
    for arrival, alone in zip(came.tolist(), need.tolist(), strict=True):
        end = max(arrival, heapq.heappop(free)) + 1.12 * alone
        heapq.heappush(free, end)
        made.append((arrival, alone, end, "eu" if rng.random() < 0.6 else "us"))
    return made


def main() -> None:
    """Write both files."""
    rng = np.random.default_rng(11)
    made = signals(rng)
    lines = [",".join(["time", *made])]
    columns = [levels.tolist() for levels in made.values()]
    lines += [f"{STEP * row}," + ",".join(f"{column[row]:.3f}" for column in columns) for row in range(ROWS)]
    (HERE / "telemetry.csv").write_text("\n".join(lines) + "\n")
    rows = [
        f"{arrival:.4f},{need:.4f},{end:.4f},completed,1,{end - max(arrival, end - 1.12 * need):.4f},{service}"
        for arrival, need, end, service in requests(rng)
    ]
    header = "arrival,need,end,outcome,attempts,held,service"
    (HERE / "requests.csv").write_text("\n".join([header, *rows]) + "\n")


if __name__ == "__main__":
    main()
