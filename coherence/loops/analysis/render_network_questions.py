"""Renders the answers to what was asked of a network beside its verdict."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from coherence.loops.analysis.network_answers import Answer


def text(answers: Sequence[Answer]) -> str:
    """Returns the answers for a reader, each under its question."""
    lines: list[str] = []
    for answer in answers:
        head = f"{answer.kind} of {', '.join(answer.blocks) or 'the network'}"
        if len(answer.lines) == 1:
            lines.append(f"{head}: {answer.lines[0]}")
        else:
            lines += [f"{head}:", *(f"  {line}" for line in answer.lines)]
    return "".join(f"{line}\n" for line in lines)


def as_json(answers: Sequence[Answer]) -> list[dict[str, Any]]:
    """Returns the answers for programs."""
    return [{"question": a.kind, "of": list(a.blocks), "open": a.open, **a.numbers} for a in answers]
