"""Keeps results in a file as they are found, so that work that was stopped goes on where it was."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from coherence.base.errors import UsageError


class KeptResults:
    """A file of JSON lines: a head that says what is computed, then one line for each result, in any order.

    `rows`: the lines that an earlier run left; one that was cut off or is no JSON is left out.  Without a file nothing
    is kept.
    """

    def __init__(self, file: Path | None, head: Mapping[str, Any], what: str) -> None:
        self.file, self.head, self.rows = file, dict(head), list[dict[str, Any]]()
        if file is not None and file.exists() and file.stat().st_size:
            self._read(file, what)
        elif file is not None:
            self._write(file, [self.head])

    def _write(self, file: Path, rows: list[dict[str, Any]], *, mode: str = "w") -> None:
        try:
            with file.open(mode, encoding="utf-8") as target:
                target.writelines(json.dumps(row) + "\n" for row in rows)
        except OSError as error:
            raise UsageError(f"cannot write {file}: {error.strerror}") from None

    def _read(self, file: Path, what: str) -> None:
        """Reads what was left; where the last line was cut off, the file is written anew without it."""
        try:
            text = file.read_text(encoding="utf-8", errors="replace")
        except OSError as error:
            raise UsageError(f"cannot read {file}: {error.strerror}") from None
        lines = text.split("\n")
        if _parsed(lines[0]) != self.head:
            raise UsageError(f"{file} holds another {what}, or one of an earlier text of the design: name a new file")
        self.rows = [row for row in map(_parsed, lines[1:]) if row is not None]
        if not text.endswith("\n"):
            self._write(file, [self.head, *self.rows])

    def add(self, row: Mapping[str, Any]) -> None:
        """Appends a result to the file."""
        if self.file is not None:
            self._write(self.file, [dict(row)], mode="a")


def digest_of(texts: Mapping[str, str]) -> str:
    """Returns the SHA-256 of texts and their names."""
    return hashlib.sha256("\0".join(f"{name}\0{text}" for name, text in sorted(texts.items())).encode()).hexdigest()


def _parsed(line: str) -> dict[str, Any] | None:
    try:
        row = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return row if isinstance(row, dict) else None
