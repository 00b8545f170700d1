"""The clock of the prover's limits: seconds of the processor, so that a busy machine changes no verdict."""

from __future__ import annotations

import time


def now() -> float:
    """Processor seconds of this thread; on a machine that is not shared, seconds."""
    return time.thread_time()
