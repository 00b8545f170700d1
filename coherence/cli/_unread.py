"""Says in text what a command did not read of a design, and gives commands `--strict`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from coherence.findings.finding import NotRead

OPEN = "an answer is undecided or a value that counts is not read"


def strict_option(where: str = "a value that counts is not read") -> Callable[[Any], Any]:
    """Returns the option `--strict` of a command, which exits 4 where this is so."""
    return click.option("--strict", is_flag=True, help=f"Exit 4 where {where} (and nothing fails).")


def strict_code(code: int, lines: Iterable[NotRead], *, strict: bool, left_open: bool = False) -> int:
    """Returns 4 instead of 0 where `--strict` is given and an answer is open or a value that counts is not read."""
    return 4 if strict and not code and (left_open or any(line.counts for line in lines)) else code


def left_out_text(words: Iterable[str]) -> Iterator[str]:
    """Yields `assumed: kubernetes_hpa leaves out several metrics`."""
    yield from (f"assumed: {text}" for text in words)


def unread_text(lines: Iterable[NotRead]) -> Iterator[str]:
    """Yields `not read: 2 values of limits buffer: at_most, when_full (a run does not have it)`."""
    from coherence.reporting._not_read import grouped

    yield from (f"not read: {text}" for text in grouped(lines))
