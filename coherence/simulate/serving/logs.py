"""Reads the logs of a running inference server: its requests, and what it counts each second.

A folder holds `requests.jsonl` (or .csv): when each request came, its first and last token, tokens of prompt and
answer; and `timeseries.csv`: times, `prompt_throughput` and `gen_throughput` (tokens/s since the time before).
SOURCE: LLMServingSim, bench/README.md (files of `python -m bench run`); vLLM, v1/metrics/loggers.py (throughputs).
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from coherence.base.errors import InputError, Problem, UsageError
from coherence.base.places import Place
from coherence.simulate.serving.fit import Counters
from coherence.simulate.serving.trace_records import OUTPUT_NAMES, PROMPT_NAMES, TIME_NAMES, column_among, records

if TYPE_CHECKING:
    from numpy.typing import NDArray

ROUNDING = 1e-6  # s: of clocks that are subtracted
FILES = {"requests": ("requests.jsonl", "requests.csv"), "timeseries": ("timeseries.csv",)}
OF_REQUESTS = {
    "arrival": TIME_NAMES,
    "first": ("firsttokents", "firsttoken", "firsttokentime"),
    "last": ("lasttokents", "lasttoken", "lasttokentime", "finishedts"),
    "prompt": PROMPT_NAMES,
    "output": OUTPUT_NAMES,
}
OF_SERIES = {
    "time": TIME_NAMES,
    "prefilled": ("promptthroughput", "prompttokenspersecond"),
    "written": ("genthroughput", "generationthroughput", "generatedtokenspersecond"),
}
Columns = Mapping[str, "NDArray[Any]"]


def read_counters(folder: Path) -> Counters:
    """Returns what a server counted, on the clock of its first arrival.  Nothing that it says of waits is read.

    Times of the series are seconds since the first arrival, or of the clock of the requests.
    Raises InputError and UsageError for what is missing or no number.
    """
    import numpy as np

    requests = _columns(_file(folder, "requests"), OF_REQUESTS)
    series = _columns(_file(folder, "timeseries"), OF_SERIES)
    zero = float(requests["arrival"].min())
    first, last = requests["first"] - zero, requests["last"] - zero
    edges, prefilled, written = _intervals(series, zero)
    counted = np.concatenate(([0.0], np.cumsum(prefilled + written)))
    gone = np.array([(requests["prompt"] + requests["output"])[last <= t + ROUNDING].sum() for t in edges])
    return Counters(edges, prefilled, written, np.maximum(counted - gone, 0.0), first, last)


def _intervals(series: Columns, zero: float) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    """Returns the edges of the intervals, and the tokens prefilled and written in each."""
    import numpy as np

    times = series["time"]
    spacing = float(np.median(np.diff(times))) if len(times) > 1 else 0.0
    if not spacing > 0 or (np.diff(times) <= 0).any():
        raise UsageError("the times of timeseries.csv do not ascend: give one line for each time, in order")
    absolute = times[0] - zero > -spacing and times[0] > 10 * spacing
    edges = times - zero if absolute else np.concatenate(([0.0], times) if times[0] > 0 else (times,))
    skipped = len(times) - (len(edges) - 1)  # the first line may say what was before
    seconds = np.diff(edges)
    return edges, series["prefilled"][skipped:] * seconds, series["written"][skipped:] * seconds


def _file(folder: Path, kind: str) -> Path:
    for name in FILES[kind]:
        if (folder / name).is_file():
            return folder / name
    raise UsageError(f"{folder} has no {' or '.join(FILES[kind])}: name the folder of a server's logs")


def _columns(path: Path, known: Mapping[str, Sequence[str]]) -> Columns:
    import numpy as np

    rows = records(path)
    header = [name.strip() for name in next(rows, (1, [""]))[1]]
    names = {what: column_among(header, among) for what, among in known.items()}
    absent = [f"{what} ({', '.join(known[what][:3])} ...)" for what, name in names.items() if not name]
    if absent:
        raise InputError([Problem(_place(path, 1), f"no column of {'; '.join(absent)}", "name it in the header")])
    places = {what: header.index(name) for what, name in names.items()}
    cells = [(line, row) for line, row in rows if any(row)]
    return {what: np.array([_number(path, line, row, at) for line, row in cells]) for what, at in places.items()}


def _number(path: Path, line: int, row: Sequence[str], at: int) -> float:
    text = row[at].strip() if at < len(row) else ""
    try:
        return float(text)
    except ValueError:
        message = f"'{text[:40]}' is no number"
        raise InputError([Problem(_place(path, line), message, "leave out what has not ended")]) from None


def _place(path: Path, line: int) -> Place:
    return Place(os.fspath(path), line, 1, line, 1)
