"""When members begin anew, and for how long they are away."""

from __future__ import annotations

import numpy as np
import pytest

from coherence.simulate.requests.program import MemberRestarts, Service
from coherence.simulate.requests.restart_times import away, soonest


def test_the_soonest_of_several_times_is_drawn() -> None:
    times = soonest(1, "watch", [(2.0, 4.0), (3.0, 3.0)])(20_000)
    assert (times.min() >= 2.0, times.max()) == (True, 3.0)
    assert float((times < 3.0).mean()) == pytest.approx(0.5, abs=0.02)
    assert np.isinf(soonest(1, "watch", [])(3)).all()


def test_starts_that_take_too_long_add_up() -> None:
    """Of a start of 0 to 2 s that may take 1 s: a second for each that failed, then 0 to 1 s; 1 + 0.5 s in the mean."""
    own = MemberRestarts(start=Service(1.0, "uniform", 1 / 3**0.5), starting=((1.0, 1.0),))
    assert float(away(1, "s", own)(40_000).mean()) == pytest.approx(1.5, abs=0.03)


def test_a_start_that_never_ends_in_time_takes_for_ever() -> None:
    own = MemberRestarts(start=Service(2.0, "constant", 0.0), starting=((1.0, 1.0),))
    assert np.isinf(away(1, "s", own)(5)).all()
