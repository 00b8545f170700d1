"""Reads arrivals from a file with a time column, ISO or numeric, and token counts and prefixes if it has them.

CSV, or one JSON object a line (.jsonl).  Known without being told: the Azure LLM inference traces, Mooncake's traces
(times in ms, `hash_ids` of the blocks of a prompt), BurstGPT, and request logs of vLLM benchmarks (`queued_ts`).
"""

from __future__ import annotations

import datetime as dt
import decimal
import hashlib
import itertools
import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from coherence.base.errors import InputError, Problem, UsageError, did_you_mean
from coherence.base.places import Place
from coherence.simulate.requests.program import Arrivals
from coherence.simulate.serving.server import TokenLoad, load
from coherence.simulate.serving.trace_records import (
    OUTPUT_NAMES,
    PREFIX_NAMES,
    PROMPT_NAMES,
    TIME_NAMES,
    column_among,
    plain,
    records,
)

COLUMNS = ("time", "prompt", "output", "prefix")
UNITS = {"s": "1", "ms": "1e-3", "us": "1e-6", "ns": "1e-9"}
MOST_PROBLEMS = 20
_ISO = re.compile(r"(\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d)(\.\d+)?\s*(Z|[+-]\d\d:?\d\d)?")


@dataclass(frozen=True)
class ArrivalTrace:
    """Requests of a file.  `times`: seconds after the first; prompt and output tokens, empty if the file has none.

    `prefixes`: names of the pieces of each prompt, `prefix_block` tokens each but the last; equal names are equal
    tokens behind equal ones.  `left_out`: requests of the file without an answer (0 tokens).
    """

    times: tuple[float, ...]
    prompt: tuple[int, ...] = ()
    output: tuple[int, ...] = ()
    prefixes: tuple[tuple[int, ...], ...] = ()
    prefix_block: int = 0
    left_out: int = 0

    @property
    def arrivals(self) -> Arrivals:
        """The arrival process of a request-level program that replays the file."""
        span = self.times[-1] - self.times[0]
        return Arrivals(kind="trace", rate=len(self.times) / span if span > 0 else 0.0, times=self.times)

    @property
    def digest(self) -> str:
        """Returns the SHA-256 of the requests."""
        columns = (self.times, self.prompt, self.output, self.prefixes, self.prefix_block)
        return hashlib.sha256(repr(columns).encode()).hexdigest()

    @property
    def load(self) -> TokenLoad:
        """The load of an inference server.  Raises UsageError when the file gives no token counts."""
        if not (self.prompt and self.output):
            raise UsageError("this trace has no token counts: name the columns of prompt and output tokens")
        return load(self.times, self.prompt, self.output)


def replayed_from_file(path: str | os.PathLike[str]) -> ArrivalTrace:
    """Returns the arrivals of a file, with tokens where it names columns of both prompts and answers, and prefixes."""
    header = next((row for _, row in records(Path(path))), [])
    prompt, output = column_among(header, PROMPT_NAMES), column_among(header, OUTPUT_NAMES)
    reader = TraceReader(os.fspath(path), unit_of_file(header), failed=True)
    if not (prompt and output):
        return reader.read("", "", "")
    return reader.read("", prompt, output, column_among(header, PREFIX_NAMES))


def unit_of_file(header: Sequence[str]) -> str:
    """Returns the unit of the times in a file with this header, where they are numbers."""
    return "ms" if "hash_ids" in header else "ns" if "arrival_time_ns" in header else "s"


def arrivals_from_csv(
    path: str | os.PathLike[str], *, time: str = "", prompt: str = "", output: str = "", unit: str = "s"
) -> ArrivalTrace:
    """Read a CSV file with a header.  Column names are exact; without `time`, the first that is named like one.

    Times: ISO 8601 (any number of decimals) or numbers in `unit` (s, ms, us, ns), ascending; equal ones are allowed.
    Raises InputError naming each line that is out of order, missing or unreadable, and UsageError for the unit.
    """
    if unit not in UNITS:
        raise UsageError(f"unit(={unit!r}) of times is not known: one of {', '.join(UNITS)}")
    return TraceReader(os.fspath(path), unit).read(time, prompt, output)


class TraceReader:
    """One reading of one file: collects problems, then gives the trace or raises them all.

    `failed`: requests without an answer (0 tokens of output) are left out.
    """

    def __init__(self, path: str, unit: str, *, failed: bool = False) -> None:
        self.path, self.unit, self.failed = path, decimal.Decimal(UNITS[unit]), failed
        self.problems: list[Problem] = []

    def read(self, time: str, prompt: str, output: str, prefix: str = "") -> ArrivalTrace:
        rows = records(Path(self.path))
        header = [name.strip() for name in next(rows, (1, [""]))[1]]
        names = (time or column_among(header, TIME_NAMES) or "time", prompt, output, prefix)
        place = {what: self.column(header, name) for what, name in zip(COLUMNS, names, strict=True) if name}
        self.check()
        cells = [(line, [row[c] if c < len(row) else "" for c in place.values()]) for line, row in rows if any(row)]
        if not cells:
            self.nothing()
        column = dict(zip(place, ([(line, row[i]) for line, row in cells] for i in range(len(place))), strict=True))
        times = tuple(self._times(column["time"], header[place["time"]]))
        counts = {
            what: tuple(self.count(line, cell, header[place[what]]) for line, cell in column[what])
            for what in ("prompt", "output")
            if what in column
        }
        prefixes = tuple(self._names(line, cell, prefix) for line, cell in column.get("prefix", ()))
        self.check()
        size = self._block(prefixes, counts.get("prompt", ()), column.get("prefix", ()))
        self.check()
        prompts, outputs = counts.get("prompt", ()), counts.get("output", ())
        return _answered(ArrivalTrace(times, prompts, outputs, prefixes, size))

    def _names(self, line: int, text: str, name: str) -> tuple[int, ...]:
        words = text.strip().strip("[]").replace(",", " ").split()
        if all(word.isascii() and word.isdigit() and len(word) <= 18 for word in words):
            return tuple(map(int, words))
        self.problem(line, f"'{text[:40]}' in column '{name}' is not a list of whole numbers", "write them as 3 17 4")
        return ()

    def _block(
        self, prefixes: Sequence[Sequence[int]], prompts: Sequence[int], column: Sequence[tuple[int, str]]
    ) -> int:
        """Returns the tokens of one name: the power of two that so many names and so many tokens allow."""
        if not prefixes:
            return 0
        least, most, size = 1, 2**62, 1
        for names, prompt, (line, _) in zip(prefixes, prompts, column, strict=True):
            least = max(least, -(-prompt // len(names))) if names else least
            most = min(most, (prompt - 1) // (len(names) - 1)) if len(names) > 1 else most
            size = 2 ** (least - 1).bit_length()
            if size > most:
                message = f"{len(names)} names for {prompt} tokens do not fit those above"
                self.problem(line, message, "name pieces of one size, a power of two in tokens; the last may be short")
                return 0
        return size if any(prefixes) else 0

    def column(self, header: Sequence[str], name: str) -> int:
        if name not in header:
            self.problem(1, f"no column '{name}'", did_you_mean(name, [h for h in header if h]))
            return -1
        return header.index(name)

    def _times(self, cells: Sequence[tuple[int, str]], name: str) -> Iterator[float]:
        """Seconds after the first; a problem for each that is missing, unreadable or before its predecessor."""
        readings = [(line, text, self.time(line, text, name)) for line, text in cells]
        known = [(line, text, at) for line, text, at in readings if at is not None]
        if len({kind for _, _, (kind, _) in known}) > 1:
            self.mixed(known[0][0], name)
            return iter(())
        for (_, before_text, (_, before)), (line, text, (_, at)) in itertools.pairwise(known):
            if at < before:
                self.unordered(line, text, before_text, name)
        return iter([float(at - known[0][2][1]) for _, _, (_, at) in known])

    def mixed(self, line: int, name: str) -> None:
        """Notes that times are of different kinds."""
        remedy = "give all times as numbers, or all as dates, with or without a zone"
        self.problem(line, f"column '{name}' mixes kinds of time", remedy)

    def unordered(self, line: int, text: str, before: str, name: str) -> None:
        """Notes that a time comes before the one above."""
        remedy = f"sort the file by its column '{name}'"
        self.problem(line, f"time {text.strip()} is before {before.strip()} of the arrival above", remedy)

    def nothing(self) -> None:
        """Notes that there is no request."""
        self.problem(1, "the file has no arrivals", "give one line for each request below the header")

    def time(self, line: int, text: str, name: str) -> tuple[str, decimal.Decimal] | None:
        text = text.strip()
        if not text:
            self.problem(line, f"no time in column '{name}'", "fill it in or delete the line")
            return None
        read = _iso(text) or _number(text, self.unit)
        if read is None:
            remedy = "write 2023-11-16 18:15:46.68 or a number"
            self.problem(line, f"'{text[:40]}' in column '{name}' is not a time", remedy)
        return read

    def count(self, line: int, text: str, name: str) -> int:
        text = text.strip()
        text = text.removesuffix(".0")
        least = 0 if self.failed and plain(name) in OUTPUT_NAMES else 1
        if text.isascii() and text.isdigit() and len(text) <= 12 and int(text) >= least:
            return int(text)
        message = f"'{text[:40]}' in column '{name}' is not a number of tokens"
        self.problem(line, message, "give a whole number >= 1, or delete the line")
        return 1

    def problem(self, line: int, message: str, remedy: str) -> None:
        self.problems.append(Problem(Place(self.path, line, 1, line, 1), message, remedy))

    def check(self) -> None:
        if len(self.problems) > MOST_PROBLEMS:
            first = self.problems[:MOST_PROBLEMS]
            more = f"{len(self.problems) - MOST_PROBLEMS} more lines of this file have problems"
            raise InputError([*first, Problem(self.problems[-1].place, more, "mend the first ones and read again")])
        if self.problems:
            raise InputError(self.problems)


def _answered(trace: ArrivalTrace) -> ArrivalTrace:
    """Returns the trace without the requests that wrote nothing."""
    answered = [i for i, tokens in enumerate(trace.output) if tokens > 0]
    if not trace.output or len(answered) == len(trace.times):
        return trace
    return ArrivalTrace(
        tuple(trace.times[i] for i in answered),
        tuple(trace.prompt[i] for i in answered),
        tuple(trace.output[i] for i in answered),
        tuple(trace.prefixes[i] for i in answered) if trace.prefixes else (),
        trace.prefix_block,
        len(trace.times) - len(answered),
    )


def _iso(text: str) -> tuple[str, decimal.Decimal] | None:
    """Returns (kind, seconds) of a date with time; a zone makes another kind than none."""
    match = _ISO.fullmatch(text)
    if match is None:
        return None
    whole, decimals, zone = match.groups()
    try:
        moment = dt.datetime.fromisoformat(whole + (zone or ""))
    except ValueError:
        return None
    origin = dt.datetime(1970, 1, 1, tzinfo=moment.tzinfo)
    since = moment - origin if zone is None else moment - origin.replace(tzinfo=dt.UTC)
    seconds = since.days * 86400 + since.seconds
    return ("zoned" if zone else "local"), seconds + decimal.Decimal(f"0{decimals or ''}")


def _number(text: str, unit: decimal.Decimal) -> tuple[str, decimal.Decimal] | None:
    try:
        number = decimal.Decimal(text)
    except decimal.InvalidOperation:
        return None
    return ("number", number * unit) if number.is_finite() and abs(number.adjusted()) <= 30 else None
