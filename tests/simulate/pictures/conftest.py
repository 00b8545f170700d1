"""One run with its picture, for all tests of this folder."""

from __future__ import annotations

import pytest

from coherence.reporting.pictures.figure import Figure
from coherence.simulate.pictures.run_figure import run_figure
from coherence.simulate.study.repeated_runs import Study
from tests.simulate.pictures.picture_runs import PAUSED, run_of


@pytest.fixture(scope="module")
def paused() -> tuple[Study, Figure]:
    own, design = run_of(PAUSED, pauses=(("pool", 40.0, 3.0),))
    return own, run_figure(["page"], [own], [design])
