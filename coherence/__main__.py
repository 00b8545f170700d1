"""The command line's front door: help without any import that costs, everything else through click."""

from __future__ import annotations

import os
import sys

COLLECT = (100_000, 20, 20)  # thresholds of the garbage collector: the default collects 40 times during the imports


def main(arguments: list[str] | None = None) -> None:
    """Runs the command line and exits with its code."""
    words = sys.argv[1:] if arguments is None else arguments
    sys.stdout = sys.stdout or open(os.devnull, "w", encoding="utf-8")  # noqa: PTH123, SIM115  (closed by the caller)
    sys.stderr = sys.stderr or open(os.devnull, "w", encoding="utf-8")  # noqa: PTH123, SIM115
    if "_COHERENCE_COMPLETE" not in os.environ and words in ([], ["--help"], ["-h"], ["help"]):
        from coherence.cli._help import root_help

        sys.stdout.write(root_help())
        sys.exit(0 if words else 2)
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # before numpy: small matrices wait for threads without a core
    import gc

    gc.set_threshold(*COLLECT)
    from coherence.cli._run import run

    code = run(words)
    if arguments is None:
        _leave(code)
    sys.exit(code)


def _leave(code: int) -> None:
    """Ends the process without taking its modules apart, which is a tenth of the time of a policy check.

    Exit handlers are run and output is written first (docs/adr/024).  Returns where more is to be done: other threads
    run, somebody measures or traces, or the output cannot be written.
    """
    import atexit

    threads = sys.modules.get("threading")
    if (threads is not None and threads.active_count() > 1) or sys.getprofile() or sys.gettrace() or sys.flags.inspect:
        return
    try:
        sys.stdout.flush()
        atexit._run_exitfuncs()  # noqa: SLF001  (what the interpreter does itself)
        sys.stdout.flush()
        sys.stderr.flush()
    except (OSError, ValueError):
        return
    os._exit(code)


if __name__ == "__main__":
    main()
