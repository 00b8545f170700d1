"""Replays the arrivals of large files in bounded memory: their times are read as a run comes to them."""

from __future__ import annotations

import hashlib
import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from coherence.simulate.requests.draws import BLOCK
from coherence.simulate.requests.program import Arrivals, TimesInBlocks
from coherence.simulate.serving.server import TokenLoad
from coherence.simulate.serving.trace import ArrivalTrace, TraceReader, replayed_from_file, unit_of_file
from coherence.simulate.serving.trace_records import OUTPUT_NAMES, PROMPT_NAMES, TIME_NAMES, column_among, records

if TYPE_CHECKING:
    from numpy.typing import NDArray

STREAMED_FROM = 1 << 24  # bytes of a file; smaller ones are read at once, and all their problems are told together
HASHED = 1 << 22  # bytes


@dataclass(frozen=True)
class StreamedTrace:
    """A file of arrivals that is read when it is wanted; an inference server, which needs tokens, reads all of it."""

    path: str
    left_out: int = 0

    @property
    def times(self) -> TimesInBlocks:
        """The times, read anew by each run that goes through them."""
        return StreamedTimes(self.path)

    @cached_property
    def whole(self) -> ArrivalTrace:
        """The requests with their tokens, in memory."""
        return replayed_from_file(self.path)

    @property
    def arrivals(self) -> Arrivals:
        """The arrival process that replays the file."""
        return self.whole.arrivals

    @property
    def load(self) -> TokenLoad:
        """The load of an inference server."""
        return self.whole.load

    @property
    def prompt(self) -> tuple[int, ...]:
        """Prompt tokens of each request."""
        return self.whole.prompt

    @property
    def output(self) -> tuple[int, ...]:
        """Output tokens of each request."""
        return self.whole.output

    @property
    def prefixes(self) -> tuple[tuple[int, ...], ...]:
        """Names of the pieces of each prompt."""
        return self.whole.prefixes

    @property
    def prefix_block(self) -> int:
        """Tokens of one name."""
        return self.whole.prefix_block

    @property
    def digest(self) -> str:
        """Returns the SHA-256 of the file."""
        digest = hashlib.sha256()
        with Path(self.path).open("rb") as file:
            while part := file.read(HASHED):
                digest.update(part)
        return digest.hexdigest()


@dataclass(frozen=True)
class StreamedTimes(TimesInBlocks):
    """The times of a file, in seconds after its first."""

    path: str

    def blocks(self) -> Iterator[NDArray[np.float64]]:
        """Yields the times in blocks.  Raises InputError with the first line that cannot be read or is out of order."""
        times = _times(self.path)
        while True:
            block = np.fromiter(itertools.islice(times, BLOCK), np.float64)
            if not len(block):
                return
            yield block


def _times(path: str) -> Iterator[float]:
    rows = records(Path(path))
    header = [name.strip() for name in next(rows, (1, [""]))[1]]
    reader = TraceReader(path, unit_of_file(header), failed=True)
    name = column_among(header, TIME_NAMES) or "time"
    place, answers = reader.column(header, name), _answers(header)
    reader.check()
    first: tuple[str, Decimal] | None = None
    above = Decimal(0), ""
    for line, row in rows:
        if not any(row):
            continue
        text = row[place] if place < len(row) else ""
        read = reader.time(line, text, name)
        reader.check()
        kind, at = read or ("", Decimal(0))  # a time that cannot be read has just been refused
        first = first or (kind, at)
        if kind != first[0]:
            reader.mixed(line, name)
        elif above[1] and at < above[0]:
            reader.unordered(line, text, above[1], name)
        tokens = (
            1 if answers is None else reader.count(line, row[answers] if answers < len(row) else "", header[answers])
        )
        reader.check()
        above = at, text
        if tokens:
            yield float(at - first[1])
    if first is None:
        reader.nothing()
        reader.check()


def _answers(header: Sequence[str]) -> int | None:
    """Returns the column of answered tokens, in a file that has those of prompts too."""
    output = column_among(header, OUTPUT_NAMES)
    return header.index(output) if output and column_among(header, PROMPT_NAMES) else None


def trace_of(path: str) -> ArrivalTrace | StreamedTrace:
    """Returns the arrivals of a file: read at once where it is small, or has to be sorted; else as a run wants them.

    Raises InputError and UsageError.
    """
    size = Path(path).stat().st_size if Path(path).is_file() else 0
    streams = size >= STREAMED_FROM and not path.endswith((".jsonl", ".ndjson"))
    return StreamedTrace(path) if streams else replayed_from_file(path)
