"""Answers `region --edge`: up to which size a design holds, with the proofs and the conflict on either side."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from coherence.base.errors import UsageError
from coherence.cli._designs import one_entry
from coherence.cli._output import put_out
from coherence.cli._progress import Progress
from coherence.cli._unread import left_out_text, strict_code, unread_text

if TYPE_CHECKING:
    from coherence.exploring.size_edges import SizeEdge

IDLE = ("jobs", "cluster", "into", "picture")
ONE_EDGE = (
    "one edge is shown: where answers turn more than once, another one may lie between values that were not asked"
)


def answered(given: Mapping[str, Any]) -> int:
    """Prints the edge and returns the exit code.  `given`: all parameters of the command."""
    from coherence.base.reads import recorded
    from coherence.checking.design_check import Options
    from coherence.door.result import head
    from coherence.door.unread import left_out, unread, unread_json
    from coherence.exploring.size_edges import one_key, size_edge

    if idle := [f"--{name}" for name in IDLE if given[name]]:
        raise UsageError(f"{idle[0]} would have no effect with --edge: it asks value by value, in one process")
    path, parameter, entry = given["path"], one_key(given["parameters"]), one_entry(given["path"])
    if entry.design.imported:
        raise UsageError(f"{path} is a manifest: write a design with `coherence import`")
    modules = Options(tuple(given["select"]), tuple(given["ignore"])).modules()
    with Progress("asking values"), recorded() as reads:
        edge = size_edge(parameter, entry.sources, entry.rebuild, modules, time_limit=given["time_limit"])
    lines, assumed = unread("region", entry.design, reads), (ONE_EDGE, *_counted(edge), *left_out(entry.design, reads))
    data = {**head("region", version=2), "path": path, **as_json(edge), "assumptions": list(assumed),
            "not_read": unread_json(lines)}  # fmt: skip
    text = "".join(f"{line}\n" for line in (*render(path, edge), *left_out_text(assumed), *unread_text(lines)))
    put_out(given["output"], lambda form: json.dumps(data, indent=2) + "\n" if form == "json" else text)
    return strict_code(0, lines, strict=given["strict"], left_open=edge.is_open)


def _counted(edge: SizeEdge) -> tuple[str, ...]:
    if not edge.whole:
        return ()
    low, high = min(edge.axis.values), max(edge.axis.values)
    return (f"{edge.axis.key} is asked at whole values alone: write {low}.0:{high}.0 for what lies between them",)


def as_json(edge: SizeEdge) -> dict[str, Any]:
    """Returns the edge for programs; values as they would be written."""
    from coherence.exploring.box_answers import spelled

    values = {"holds": edge.holds, "fails": edge.fails, "open_at": edge.open_at}
    return {
        "key": edge.axis.key,
        **{name: None if value is None else spelled(edge.axis, value) for name, value in values.items()},
        "proved": [f"{code} of {', '.join(of)}" for code, of in edge.questions] if edge.holds is not None else [],
        "conflicts": list(edge.conflicts),
        "left_open": [f"{code} of {', '.join(of)}" for code, of in edge.left_open],
        "asked": [spelled(edge.axis, value) for value in sorted(edge.answers)],
    }


def render(path: str, edge: SizeEdge) -> Iterator[str]:
    """Yields the edge in lines of text."""
    shown = as_json(edge)
    values = shown["asked"]
    yield f"{path}: {shown['key']} asked at {len(values)} values from {values[0]} to {values[-1]}"
    if edge.fails is None:
        yield f"no conflict at either end of the range; proved at {shown['holds']}: {'; '.join(shown['proved'])}"
    elif edge.holds is None:
        yield "at none of these values is it proved to hold"
    else:
        yield f"holds at {shown['holds']}: {'; '.join(shown['proved'])} proved"
    if edge.open_at is not None:
        yield f"undecided at {shown['open_at']}: no conflict, and not every proof"
    yield from (f"undecided at {shown['holds']}: {question}" for question in shown["left_open"])
    yield from (f"conflict at {shown['fails']}: {words}" for words in shown["conflicts"])
