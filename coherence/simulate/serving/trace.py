"""Reads arrivals from a CSV file with a time column, ISO or numeric, and token counts if it has them."""

from __future__ import annotations

import datetime as dt
import decimal
import itertools
import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from coherence.base.csv_records import csv_records
from coherence.base.errors import InputError, Problem, UsageError, did_you_mean
from coherence.base.places import Place
from coherence.simulate.requests.program import Arrivals
from coherence.simulate.serving.server import TokenLoad, load

PROMPT_NAMES = ("prompt", "prompt_tokens", "contexttokens", "context_tokens", "input_tokens", "input_length")
OUTPUT_NAMES = ("answer", "output", "generatedtokens", "generated_tokens", "output_tokens", "output_length")
TIME_NAMES = ("time", "timestamp", "arrival", "arrival_time", "arrived_at", "date", "t")
UNITS = {"s": "1", "ms": "1e-3", "us": "1e-6", "ns": "1e-9"}
MOST_PROBLEMS = 20
_ISO = re.compile(r"(\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d)(\.\d+)?\s*(Z|[+-]\d\d:?\d\d)?")


@dataclass(frozen=True)
class ArrivalTrace:
    """Requests of a file.  `times`: seconds after the first; prompt and output tokens, empty if the file has none."""

    times: tuple[float, ...]
    prompt: tuple[int, ...] = ()
    output: tuple[int, ...] = ()

    @property
    def arrivals(self) -> Arrivals:
        """The arrival process of a request-level program that replays the file."""
        span = self.times[-1] - self.times[0]
        return Arrivals(kind="trace", rate=len(self.times) / span if span > 0 else 0.0, times=self.times)

    @property
    def load(self) -> TokenLoad:
        """The load of an inference server.  Raises UsageError when the file gives no token counts."""
        if not (self.prompt and self.output):
            raise UsageError("this trace has no token counts: name the columns of prompt and output tokens")
        return load(self.times, self.prompt, self.output)


def arrivals_from_azure(path: str | os.PathLike[str]) -> ArrivalTrace:
    """Returns the Azure LLM inference traces.  SOURCE: AzurePublicDataset, AzureLLMInferenceDataset2023.md, Schema."""
    return arrivals_from_csv(path, time="TIMESTAMP", prompt="ContextTokens", output="GeneratedTokens")


def replayed_from_csv(path: str | os.PathLike[str]) -> ArrivalTrace:
    """Returns arrivals of a CSV file, with tokens where its header names columns of both prompts and answers."""
    header = next((row for _, row in csv_records(Path(path))), [])
    names = {name.strip().lower(): name.strip() for name in header}
    prompt, output = (
        next((names[name] for name in known if name in names), "") for known in (PROMPT_NAMES, OUTPUT_NAMES)
    )
    return arrivals_from_csv(path, prompt=prompt, output=output) if prompt and output else arrivals_from_csv(path)


def arrivals_from_csv(
    path: str | os.PathLike[str], *, time: str = "", prompt: str = "", output: str = "", unit: str = "s"
) -> ArrivalTrace:
    """Read a CSV file with a header.  Column names are exact; without `time`, the first that is named like one.

    Times: ISO 8601 (any number of decimals) or numbers in `unit` (s, ms, us, ns), ascending; equal ones are allowed.
    Raises InputError naming each line that is out of order, missing or unreadable, and UsageError for the unit.
    """
    if unit not in UNITS:
        raise UsageError(f"unit(={unit!r}) of times is not known: one of {', '.join(UNITS)}")
    return _Reader(os.fspath(path), unit).read(time, prompt, output)


class _Reader:
    """One reading of one file: collects problems, then gives the trace or raises them all."""

    def __init__(self, path: str, unit: str) -> None:
        self.path, self.unit = path, decimal.Decimal(UNITS[unit])
        self.problems: list[Problem] = []

    def read(self, time: str, prompt: str, output: str) -> ArrivalTrace:
        rows = csv_records(Path(self.path))
        header = [name.strip() for name in next(rows, (1, [""]))[1]]
        columns = [self._column(header, name) for name in (time or _time_name(header), prompt, output) if name]
        self._raise()
        records = [(line, [row[c] if c < len(row) else "" for c in columns]) for line, row in rows if any(row)]
        if not records:
            self._problem(1, "the file has no arrivals", "give one line for each request below the header")
        times = self._times([(line, cells[0]) for line, cells in records], header[columns[0]])
        names = [header[c] for c in columns[1:]]
        counts = [tuple(self._count(line, cells[i + 1], n) for line, cells in records) for i, n in enumerate(names)]
        self._raise()
        tokens = dict(zip([n for n, given in (("prompt", prompt), ("output", output)) if given], counts, strict=True))
        return ArrivalTrace(tuple(times), **tokens)

    def _column(self, header: Sequence[str], name: str) -> int:
        if name not in header:
            self._problem(1, f"no column '{name}'", did_you_mean(name, [h for h in header if h]))
            return -1
        return header.index(name)

    def _times(self, cells: Sequence[tuple[int, str]], name: str) -> Iterator[float]:
        """Seconds after the first; a problem for each that is missing, unreadable or before its predecessor."""
        readings = [(line, text, self._time(line, text, name)) for line, text in cells]
        known = [(line, text, at) for line, text, at in readings if at is not None]
        if len({kind for _, _, (kind, _) in known}) > 1:
            remedy = "give all times as numbers, or all as dates, with or without a zone"
            self._problem(known[0][0], f"column '{name}' mixes kinds of time", remedy)
            return iter(())
        for (_, before_text, (_, before)), (line, text, (_, at)) in itertools.pairwise(known):
            if at < before:
                remedy = f"sort the file by its column '{name}'"
                self._problem(line, f"time {text.strip()} is before {before_text.strip()} of the arrival above", remedy)
        return iter([float(at - known[0][2][1]) for _, _, (_, at) in known])

    def _time(self, line: int, text: str, name: str) -> tuple[str, decimal.Decimal] | None:
        text = text.strip()
        if not text:
            self._problem(line, f"no time in column '{name}'", "fill it in or delete the line")
            return None
        read = _iso(text) or _number(text, self.unit)
        if read is None:
            remedy = "write 2023-11-16 18:15:46.68 or a number"
            self._problem(line, f"'{text[:40]}' in column '{name}' is not a time", remedy)
        return read

    def _count(self, line: int, text: str, name: str) -> int:
        text = text.strip()
        if text.isascii() and text.isdigit() and len(text) <= 12 and int(text) >= 1:
            return int(text)
        message = f"'{text[:40]}' in column '{name}' is not a number of tokens"
        self._problem(line, message, "give a whole number >= 1, or delete the line")
        return 1

    def _problem(self, line: int, message: str, remedy: str) -> None:
        self.problems.append(Problem(Place(self.path, line, 1, line, 1), message, remedy))

    def _raise(self) -> None:
        if len(self.problems) > MOST_PROBLEMS:
            first = self.problems[:MOST_PROBLEMS]
            more = f"{len(self.problems) - MOST_PROBLEMS} more lines of this file have problems"
            raise InputError([*first, Problem(self.problems[-1].place, more, "mend the first ones and read again")])
        if self.problems:
            raise InputError(self.problems)


def _time_name(header: Sequence[str]) -> str:
    return next((name for name in header if name.lower() in TIME_NAMES), TIME_NAMES[0])


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
