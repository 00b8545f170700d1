"""Adds to a study what runs of jobs in an order, and of loops that evict, show."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from coherence.base.errors import InputError, Problem, UsageError
from coherence.base.places import Place

if TYPE_CHECKING:
    from coherence.language.design import Design
    from coherence.simulate.study.repeated_runs import Study
    from coherence.simulate.study.setting import Setting

REMEDY = "state it, or ask `coherence check`, which looks at every order"


def with_relations(design: Design, setting: Setting, run: Callable[[], Study]) -> Study:
    """Returns the study of a design, with what runs of its jobs and evictors show beside it.

    Raises InputError where nothing of the design runs.
    """
    from coherence.verify.jobs.running.run_samples import has_relations, relation_samples

    if not has_relations(design):
        return run()
    beside = relation_samples(design, setting.seeds, setting.until)
    own = _own_study(design, setting, run, beside.refused, alone=not beside.samples)
    if not beside.samples:
        return replace(own, notes=(*own.notes, *beside.refused))
    rows = own.samples if own.setting.seeds else own.samples * len(setting.seeds)  # one exact run is the same each time
    return replace(
        own, setting=replace(setting, seeds=setting.seeds[: len(rows)]),
        samples=tuple({**row, **more} for row, more in zip(rows, beside.samples, strict=False)),
        assumptions=(*own.assumptions, *beside.assumptions), notes=(*own.notes, *beside.refused),
    )  # fmt: skip


def _own_study(
    design: Design, setting: Setting, run: Callable[[], Study], refused: tuple[str, ...], *, alone: bool
) -> Study:
    """Returns the study of what else runs; an empty one where nothing else does and the relations run."""
    from coherence.simulate.study.exact_runs import NothingRunsError
    from coherence.simulate.study.repeated_runs import Study

    try:
        return run()
    except NothingRunsError:
        if alone and refused:
            place = Place(design.file, 1, 1, 1, 1)
            raise InputError([Problem(place, text, REMEDY) for text in refused]) from None
        if alone:
            raise
        from coherence.simulate.study.promises import judged

        if setting.values:
            raise UsageError(
                f"{next(iter(setting.values))} of jobs is what the design states: change it there"
            ) from None
        return Study(setting, ({},) * len(setting.seeds), promises=judged(design, None, {}))
