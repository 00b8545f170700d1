"""Watches files by their times and sizes; after a change asks again only about the pieces that it touched.

The files are looked at a few times a second; no library is needed.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from coherence.checking.design_check import Analysis, Options, analysis, reanalyse
from coherence.checking.input_files import input_files
from coherence.checking.rereading import reread_entries
from coherence.checking.workspace import Entry
from coherence.findings.design_answers import Answers
from coherence.language.design import Design

EVERY = 0.3  # s between looks
Stamp = tuple[tuple[str, int, int, int], ...]


def stamp(paths: Sequence[str]) -> Stamp:
    """Returns path, time of change, size and number of every file that a check reads; zeros for a missing one."""
    return tuple((path, *_status(path)) for path in input_files(paths).explicit)


def _status(path: str) -> tuple[int, int, int]:
    try:
        status = Path(path).stat()
    except (OSError, ValueError):
        return (0, 0, 0)
    return (status.st_mtime_ns, status.st_size, status.st_ino)


def changes(
    paths: Sequence[str], first: Stamp, *, every: float = EVERY, sleep: Callable[[float], None] = time.sleep
) -> Iterator[tuple[str, ...]]:
    """Yields the files that changed since the last look, each time once they have come to rest."""
    last = first
    while True:
        sleep(every)
        now = stamp(paths)
        if now == last:
            continue
        while (rest := _later(paths, every, sleep)) != now:
            now = rest
        yield tuple(dict.fromkeys(one[0] for one in sorted(set(now) ^ set(last))))
        last = now


def _later(paths: Sequence[str], every: float, sleep: Callable[[float], None]) -> Stamp:
    sleep(every / 3)
    return stamp(paths)


class FileTimes:
    """The last analysis of each watched design."""

    def __init__(self) -> None:
        self.known: dict[tuple[str, ...], Analysis] = {}

    def answers(self, entry: Entry, options: Mapping[str, Any]) -> Answers:
        """Returns the answers about a design, asking only about what changed."""
        key, chosen = (*sorted(entry.sources), entry.design.environment), Options(**options)
        before = self.known.get(key)
        if before is None or before.options != chosen:
            latest = analysis(entry.design, entry.sources, entry.rebuild, options=chosen)
        else:
            latest = reanalyse(before, _sharing(before.design, entry), entry.sources, entry.rebuild)
        self.known[key] = latest
        return latest.answers


def _sharing(previous: Design, entry: Entry) -> Design:
    """Returns the design of the entry, made of the same entries as the previous one where those were not edited."""
    text = entry.sources.get(previous.file)
    edited = reread_entries(previous, text) if text is not None and len(entry.sources) == 1 else None
    return edited if edited is not None else entry.design
