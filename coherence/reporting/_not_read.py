"""Renders what was not read: one line for each value, or one for each kind of entry and reason."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from coherence.findings.finding import SETTING, NotRead


def grouped(lines: Iterable[NotRead]) -> Iterator[str]:
    """Yields `2 limits (no question answers about it)`, `3 keys of calls (no question answers by it)`."""
    groups: dict[tuple[str, str, bool], list[NotRead]] = {}
    for line in lines:
        groups.setdefault((line.section, line.reason, line.counts), []).append(line)
    for (section, reason, counts), own in groups.items():
        yield f"{_counted(section, own)} ({reason}{'' if counts else '; listed only'})"


def listed_only(lines: Iterable[NotRead]) -> Iterator[str]:
    """Yields `not read: 2 values of prices pool, gpu (...; listed only)` of the values that do not count."""
    yield from (f"not read: {text}" for text in grouped(line for line in lines if not line.counts))


def _counted(section: str, own: list[NotRead]) -> str:
    entries = list(dict.fromkeys(line.entry for line in own))
    if section == SETTING:
        return f"{len(own)} setting{'s' * (len(own) > 1)}"
    keys = list(dict.fromkeys(line.key for line in own))
    shown = f"{', '.join(entries[:3])}{', ...' if len(entries) > 3 else ''}"
    what = f"{len(own)} value{'s' * (len(own) > 1)} of {section}"
    return f"{what} {shown}: {', '.join(keys[:4])}{', ...' if len(keys) > 4 else ''}".rstrip(": ")


def not_read_sentence(line: NotRead) -> str:
    """Returns `not read: limits.buffer.when_full (no question answers by it)`."""
    return f"not read: {line.path} ({line.reason})"
