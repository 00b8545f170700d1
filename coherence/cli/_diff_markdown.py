"""Renders what changes between two designs as Markdown, for a pull request: verdicts, values, floors, margins."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from coherence.reporting.markdown import escaped

if TYPE_CHECKING:
    from coherence.door.diff import DiffResult

DESIGNS = ("before", "after")


def markdown(result: DiffResult) -> str:
    """Returns a heading, a summary, and a table for each kind of change; every name is escaped."""
    data = result.data
    parts = [f"# {escaped(data['before'])} → {escaped(data['after'])}", f"{result.summary}."]
    changes = zip(result.verdicts, data["verdicts"], strict=True)
    verdicts = [_verdict(row, new=change.is_new_conflict) for change, row in changes]
    parts += _table("Verdicts that change", ("", "code", "of", *DESIGNS, "because of", "finding"), verdicts)
    parts += _table("Values that differ", ("place", "value"), [_value(row) for row in data["values"]])
    figures = [(row["code"], ", ".join(row["of"]), *_messages(row)) for row in data["figures"]]
    parts += _table("Answers that keep their verdict", ("code", "of", *DESIGNS), figures)
    floors = [(row["name"], row["thing"], row["before"], row["after"]) for row in data["floors"]]
    parts += _table("Floors", ("floor", "of", *DESIGNS), floors)
    header = ("loop", "distance, at most", "margin before, at least", "margin after, at least", "")
    parts += _table("Loops, in the order in which to migrate them", header, [_loop(row) for row in data["loops"]])
    parts += _table("Infrastructure that the second one adds", ("what",), [(row,) for row in data["adds"]])
    return "\n\n".join(parts) + "\n"


def _verdict(row: Mapping[str, Any], *, new: bool) -> Sequence[str]:
    causes = "; or ".join(" and ".join(cause) for cause in row["causes"]) or row["reason"]
    gone = "conflict" in row["before"] and "conflict" not in row["after"]
    sign = "new conflict" if new else "conflict gone" if gone else ""
    old, later = _messages(row)
    return sign, row["code"], ", ".join(row["of"]), row["before"], row["after"], causes, later or old


def _value(row: Mapping[str, Any]) -> Sequence[str]:
    return f"{row['file']}:{row['line']}", row["text"]


def _messages(row: Mapping[str, Any]) -> tuple[str, str]:
    old, new = ("; ".join(one["message"] for one in row["findings"][side]) for side in DESIGNS)
    return old, new


def _loop(row: Mapping[str, Any]) -> Sequence[str]:
    if "distance" not in row:
        return row["loop"], "", "", "", row["reason"]
    left = f"{row['margin_left']:.3g}" if row["certified"] else ""
    return row["loop"], f"{row['distance']:.3g}", f"{row['margin']:.3g}", left, row["reason"]


def _table(title: str, header: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """Returns a heading and a table; nothing without rows."""
    if not rows:
        return []
    lines = [f"| {' | '.join(header)} |", "|" + "---|" * len(header)]
    lines += [f"| {' | '.join(escaped(text) for text in row)} |" for row in rows]
    return [f"## {title}", "\n".join(lines)]
