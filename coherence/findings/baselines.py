"""Compares findings with a baseline of known ones, so that a check fails on new ones alone.

An entry is known by its fingerprint: code, verdict and the names of the policies involved, and how often it occurs.
Moved lines, comments, another order, another file and other numbers keep it: a known conflict stays known while
somebody works on its values, and a reason stays true of the pair of policies, not of a number.  Another verdict, a
renamed policy, or one more finding of the same kind is new; so is a warning that has become an error (`errors` counts
how many of the known ones were; without it any may be).  The file is sorted JSON; a reason may be written into it.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from coherence.base.errors import UsageError
from coherence.base.units import shorten
from coherence.findings.finding import Finding, Severity, Verdict, environments_within, fingerprint_of

FORMAT_VERSION = 1
MOST_BYTES = 8_000_000
DEFAULT = ".coherence-baseline.json"
_HOW = "write it with `coherence baseline write`"
_VERDICTS = frozenset(map(str, Verdict))


@dataclass(frozen=True)
class BaselineEntry:
    """One kind of finding: what it is, how often it is known (as an error: None, always), and why it is accepted."""

    fingerprint: str
    code: str
    verdict: str
    of: tuple[str, ...]
    count: int
    reason: str = ""
    errors: int | None = None
    environments: tuple[str, ...] = ()  # in which it is known; none where in all

    def covers(self, finding: Finding) -> bool:
        """Decides whether what is known is this finding in more environments."""
        own = fingerprint_of(self.code, self.verdict, self.of, self.environments)
        without = fingerprint_of(finding.code, finding.verdict, finding.of, self.environments)
        inner, outer = set(finding.environments), set(self.environments)
        return own == self.fingerprint == without and bool(inner) and (not outer or inner <= outer)


@dataclass(frozen=True)
class Compared:
    """The findings of a check beside a baseline; `gone` are known ones that are not there any more."""

    new: tuple[Finding, ...]
    known: tuple[Finding, ...]
    gone: tuple[BaselineEntry, ...]


def counts(finding: Finding, *, notes: bool = False) -> bool:
    """Returns whether the finding can be known: no proof, and a note (severity info) only where notes are asked for."""
    problem = finding.verdict is not Verdict.PROVED or finding.severity is not Severity.INFO
    return problem and (notes or finding.severity is not Severity.INFO)


def entries_of(
    findings: Iterable[Finding], old: Iterable[BaselineEntry] = (), *, notes: bool = False
) -> tuple[BaselineEntry, ...]:
    """Returns the baseline entries of all findings that count; the reasons of old entries stay."""
    reasons = {entry.fingerprint: entry.reason for entry in old}
    counted = [finding for finding in findings if counts(finding, notes=notes)]
    numbers = Counter(finding.fingerprint for finding in counted)
    errors = Counter(finding.fingerprint for finding in counted if finding.severity is Severity.ERROR)
    named = {finding.fingerprint: finding for finding in counted}
    entries = (
        BaselineEntry(
            key,
            f.code,
            str(f.verdict),
            tuple(sorted(f.of)),
            numbers[key],
            reasons.get(key, ""),
            errors[key],
            f.environments,
        )
        for key, f in named.items()
    )
    return tuple(sorted(entries, key=_order))


def _order(entry: BaselineEntry) -> tuple[object, ...]:
    return (entry.code, entry.of, entry.verdict, entry.fingerprint)


def compared(findings: Iterable[Finding], entries: Iterable[BaselineEntry]) -> Compared:
    """Splits the findings into new and known; one that is more, or worse, than the baseline says is new."""
    entries = tuple(entries)
    left = Counter({entry.fingerprint: entry.count for entry in entries})
    errors = Counter({entry.fingerprint: _errors(entry) for entry in entries})
    by_code: dict[str, list[BaselineEntry]] = {}
    for entry in entries:
        by_code.setdefault(entry.code, []).append(entry)
    new, known = [], []
    for finding in findings:
        worst = finding.severity is Severity.ERROR
        wider = (e.fingerprint for e in by_code.get(finding.code, ()) if finding.environments and e.covers(finding))
        keys = (finding.fingerprint, *wider) if counts(finding, notes=True) else ()
        key = next((own for own in keys if left[own] > 0 and (errors[own] > 0 or not worst)), None)
        if key is not None:
            left[key] -= 1
            errors[key] -= worst
            known.append(finding)
        else:
            new.append(finding)
    gone = tuple(_counted(entry, left[entry.fingerprint]) for entry in entries if left[entry.fingerprint] > 0)
    return Compared(tuple(new), tuple(known), gone)


def within(entries: Iterable[BaselineEntry], chosen: Collection[str]) -> tuple[BaselineEntry, ...]:
    """Returns what is known in some environments, as it is known where these are all that is looked at."""
    seen: dict[str, BaselineEntry] = {}
    for entry in entries:
        own = environments_within(entry.environments, frozenset(chosen)) if chosen else entry.environments
        if own is None:
            continue
        relabelled = own != entry.environments
        key = fingerprint_of(entry.code, entry.verdict, entry.of, own) if relabelled else entry.fingerprint
        before = seen.get(key)
        joined = replace(entry, fingerprint=key, environments=own)
        seen[key] = joined if before is None else _sum(before, joined)
    return tuple(sorted(seen.values(), key=_order))


def _sum(entry: BaselineEntry, other: BaselineEntry) -> BaselineEntry:
    errors = None if None in (entry.errors, other.errors) else _errors(entry) + _errors(other)
    return replace(entry, count=entry.count + other.count, errors=errors)


def _errors(entry: BaselineEntry) -> int:
    return entry.count if entry.errors is None else entry.errors


def pruned(entries: Iterable[BaselineEntry], gone: Iterable[BaselineEntry]) -> tuple[BaselineEntry, ...]:
    """Returns the entries without those that are gone."""
    less = {entry.fingerprint: entry.count for entry in gone}
    return tuple(
        _counted(e, e.count - less.get(e.fingerprint, 0)) for e in entries if e.count > less.get(e.fingerprint, 0)
    )


def _counted(entry: BaselineEntry, count: int) -> BaselineEntry:
    errors = None if entry.errors is None else min(entry.errors, count)
    return replace(entry, count=count, errors=errors)


def text(entries: Iterable[BaselineEntry]) -> str:
    """Returns the file of a baseline: sorted JSON, one entry a line, a newline at the end."""
    rows = [json.dumps(_as_data(entry), sort_keys=True) for entry in sorted(entries, key=_order)]
    listed = ",\n".join(f"    {row}" for row in rows)
    body = f"[\n{listed}\n  ]" if rows else "[]"
    return f'{{\n  "findings": {body},\n  "format_version": {FORMAT_VERSION},\n  "tool": "coherence"\n}}\n'


def _as_data(entry: BaselineEntry) -> dict[str, Any]:
    data: dict[str, Any] = {
        "fingerprint": entry.fingerprint,
        "code": entry.code,
        "verdict": entry.verdict,
        "of": list(entry.of),
        "count": entry.count,
    }
    data |= {"errors": entry.errors} if entry.errors is not None else {}
    data |= {"environments": list(entry.environments)} if entry.environments else {}
    return data | ({"reason": entry.reason} if entry.reason else {})


def read(path: str) -> tuple[BaselineEntry, ...]:
    """Returns the entries of a file.  Raises UsageError with what is wrong with it."""
    try:
        with Path(path).open("rb") as file:
            content = file.read(MOST_BYTES + 1)
        if len(content) > MOST_BYTES:
            raise UsageError(f"{path}: a baseline of more than {MOST_BYTES} bytes is not read; {_HOW}")
        data = json.loads(content)
    except OSError as error:
        raise UsageError(f"cannot read the baseline {path}: {error.strerror}; {_HOW}") from None
    except (ValueError, RecursionError) as error:
        raise UsageError(f"{path} is not JSON: {shorten(str(error))}; {_HOW}") from None
    return parsed(data, path)


def parsed(data: object, path: str) -> tuple[BaselineEntry, ...]:
    """Returns the entries of a baseline read as JSON.  Raises UsageError with what is wrong with it."""
    if not isinstance(data, dict) or not isinstance(data.get("findings"), list):
        raise UsageError(f"{path} is not a baseline: an object with a list `findings` is expected; {_HOW}")
    version = data.get("format_version")
    if version != FORMAT_VERSION or isinstance(version, bool):
        raise UsageError(f"{path}: format_version is {shorten(repr(version))}, {FORMAT_VERSION} is known; {_HOW}")
    entries = tuple(_entry(one, f"{path}: findings[{index}]") for index, one in enumerate(data["findings"]))
    twice = [key for key, number in Counter(entry.fingerprint for entry in entries).items() if number > 1]
    if twice:
        raise UsageError(f"{path}: the fingerprint {twice[0]} stands twice; keep one and add up its count")
    return tuple(sorted(entries, key=_order))


def _entry(data: object, where: str) -> BaselineEntry:
    if not isinstance(data, dict):
        raise UsageError(f"{where} is not an object; {_HOW}")
    unknown = sorted(set(data) - {"fingerprint", "code", "verdict", "of", "count", "errors", "reason", "environments"})
    if unknown:
        raise UsageError(f"{where}: unknown key {shorten(repr(unknown[0]))}")
    of, count = data.get("of", []), data.get("count", 1)
    environments = data.get("environments", [])
    for key, listed in (("of", of), ("environments", environments)):
        if not isinstance(listed, list) or not all(isinstance(name, str) for name in listed):
            raise UsageError(f"{where}: `{key}` is not a list of names")
    if not isinstance(count, int) or isinstance(count, bool) or not 0 < count < 10**9:
        raise UsageError(f"{where}: `count` is {shorten(repr(count))}, a whole number above 0 expected")
    errors = data.get("errors")
    if errors is not None and (not isinstance(errors, int) or isinstance(errors, bool) or not 0 <= errors <= count):
        raise UsageError(f"{where}: `errors` is {shorten(repr(errors))}, a whole number up to `count` expected")
    words = {key: _word(data, key, where) for key in ("fingerprint", "code", "verdict", "reason")}
    if words["verdict"] not in _VERDICTS:
        raise UsageError(f"{where}: `verdict` is '{shorten(words['verdict'])}', one of {', '.join(Verdict)} expected")
    return BaselineEntry(
        words["fingerprint"],
        words["code"],
        words["verdict"],
        tuple(of),
        count,
        words["reason"],
        errors,
        tuple(environments),
    )


def _word(data: Mapping[str, object], key: str, where: str) -> str:
    word = data.get(key, "" if key == "reason" else None)
    if not isinstance(word, str) or (key != "reason" and not word):
        raise UsageError(f"{where}: `{key}` is {shorten(repr(word))}, a text expected")
    return word
