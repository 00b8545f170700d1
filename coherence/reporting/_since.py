"""Says what changed since an earlier state of the files: on one line for people, as data for programs."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from coherence.base.outside_text import visible
from coherence.base.places import Place
from coherence.findings.finding import ChangedPolicy, Finding, Report, Since
from coherence.reporting._words import in_file, is_proof, one_line, plural, primary, where

MOST = 6  # entries of each kind that are named on the line


def since_lines(report: Report) -> list[str]:
    """Returns what changed and what that did to the findings; nothing where no earlier state is looked at."""
    since = report.since
    if since is None:
        return []
    commit = f"{visible(since.commit[:12])}{f', where this branch left {visible(since.ref)}' if since.left else ''}"
    listed = {how: _listed(since.policies, how) for how in ("added", "changed", "removed")}
    differ = f"{plural(len(since.files), 'file')} differ{'s' * (len(since.files) == 1)}"
    changes = "; ".join([differ, *(f"{how} {names}" for how, names in listed.items() if names)])
    lines = [f"Since {visible(since.ref)} ({commit}): {changes}."]
    if since.unread:
        return [*lines, f"The earlier state cannot be checked ({one_line(since.unread)}): every finding counts as new."]
    new = sum(not is_proof(finding) for finding in report.findings)
    gone = "; ".join(f"{visible(one.code)} of {visible(', '.join(one.of))}" for one in since.gone[:MOST])
    counts = f"{since.known} known before, {new} new, {sum(one.count for one in since.gone)} gone"
    return [*lines, f"Findings: {counts}{f' ({gone})' if gone else ''}."]


def _listed(policies: Iterable[ChangedPolicy], how: str) -> str:
    names = [f"{one.section}.{one.name}".rstrip(".") for one in policies if one.how == how]
    more = f" and {len(names) - MOST} more" if len(names) > MOST else ""
    return visible(", ".join(names[:MOST])) + more


def touched_place(finding: Finding, report: Report) -> Place | None:
    """Returns the first place of a finding on a line that changed, else in a file that did, else the first of all.

    Reviewers see what stands beside the changed lines alone.
    """
    if report.since is None:
        return primary(finding)
    places = [place for place in finding.places if in_file(place)]
    on_lines = [place for place in places if is_touched(place, report)]
    in_files = [place for place in places if place.file in report.since.files]
    return next(iter([*on_lines, *in_files]), primary(finding))


def is_touched(place: Place, report: Report) -> bool:
    """Returns whether a place stands on a line that changed; every one does where no earlier state is looked at."""
    changed = report.since.files.get(place.file, frozenset()) if report.since else None
    return changed is None or not changed.isdisjoint(range(place.line, place.end_line + 1))


def since_json(since: Since) -> dict[str, Any]:
    """Returns the same for programs."""
    return {
        "ref": since.ref,
        "commit": since.commit,
        "left": since.left,
        "files": {name: sorted(lines) for name, lines in since.files.items()},
        "policies": [
            {"how": one.how, "section": one.section, "name": one.name, "place": where(one.place)}
            for one in since.policies
        ],
        "known": since.known,
        "gone": [
            {"code": one.code, "verdict": one.verdict, "of": list(one.of), "count": one.count} for one in since.gone
        ],
        "unread": since.unread,
    }
