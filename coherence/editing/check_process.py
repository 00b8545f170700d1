"""Checks a text in a process of its own: limits of time hold in a first thread alone, and a stale check is stopped."""

from __future__ import annotations

import asyncio
import os
import pickle
import sys
from asyncio.subprocess import PIPE
from typing import cast

from coherence.editing.diagnostics import Diagnostic, diagnostics, whole_text


async def checked(text: str, file: str) -> tuple[Diagnostic, ...]:
    """Returns the diagnostics of a text.  Whoever cancels it ends the process."""
    path = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    command = (sys.executable, "-P", "-m", __name__)
    process = await asyncio.create_subprocess_exec(*command, stdin=PIPE, stdout=PIPE, env=path)
    try:
        answer, _ = await process.communicate(pickle.dumps((text, file)))
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    if process.returncode:
        message = f"the check ended with code {process.returncode}: `coherence check` may say why"
        return (whole_text(file, message),)
    return cast("tuple[Diagnostic, ...]", pickle.loads(answer))  # noqa: S301  (of our own process)


def main() -> None:
    """Checks the text on standard input; what a library prints goes to standard error, not amid the answer."""
    answer = os.dup(1)
    os.dup2(2, 1)
    text, file = pickle.load(sys.stdin.buffer)  # noqa: S301  (of our own process)
    with open(answer, "wb") as output:  # noqa: PTH123  (a descriptor)
        pickle.dump(diagnostics(text, file), output)


if __name__ == "__main__":
    main()
