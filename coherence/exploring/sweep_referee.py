"""Lays a sweep's verdict at the design's own values beside the analysis of the design."""

from __future__ import annotations

from collections.abc import Iterator

from coherence.exploring.sweeps import Cell
from coherence.loops.analysis.design_analysis import DesignAnalysis, analysed
from coherence.loops.analysis.second_opinions import disagreements, is_nominal
from coherence.loops.designs.disagreements import Disagreement, Statement
from coherence.loops.designs.feedback_groups import Deadline
from coherence.loops.designs.predicted_cycles import predicted_within
from coherence.model.model import Model


def own_disagreements(model: Model, cell: Cell, time_limit: float) -> tuple[Disagreement, ...]:
    """Returns what contradicts the cell of the design's own values, and what the analysis says against itself."""
    analysis = analysed(model, time_limit=time_limit / 2)
    cycles = predicted_within(model, time_limit / 2)
    return (*disagreements(analysis, cycles, Deadline(time_limit / 2)), *_against(model, cell, analysis))


def _against(model: Model, cell: Cell, analysis: DesignAnalysis) -> Iterator[Disagreement]:
    """Yields a group that the analysis judges otherwise from the same start; a sweep runs the ends of ranges alone."""
    for group in analysis.groups:
        names, answer = group.group.names, group.answer
        nominal = answer.run is not None and is_nominal(answer.run.choices)
        swings = cell.verdict == "settles" and answer.verdict == "oscillates" and nominal
        rests = cell.verdict == "oscillates" and cell.loops == names[: len(cell.loops)] and answer.verdict == "settles"
        if swings or rests:
            file = model.design.file
            swept = Statement(f"the sweep says of the design's own values: {cell.verdict}", f"coherence sweep {file}")
            yield Disagreement(
                names, swept, Statement(f"the analysis says: {answer.verdict}", f"coherence analyze {file}")
            )
