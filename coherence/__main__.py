"""The command line's front door: help without any import that costs, everything else through click."""

from __future__ import annotations

import sys


def main(arguments: list[str] | None = None) -> None:
    """Run the command line and exit with its code."""
    words = sys.argv[1:] if arguments is None else arguments
    if words in ([], ["--help"], ["-h"], ["help"]):
        from coherence.cli._help import root_help

        sys.stdout.write(root_help())
        sys.exit(0 if words else 2)
    import gc

    gc.set_threshold(100_000, 20, 20)  # a short-lived process: the default collects 40 times during the imports
    from coherence.cli._run import run

    sys.exit(run(words))


if __name__ == "__main__":
    main()
