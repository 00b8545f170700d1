"""What a ranking of root causes reads: ancestors, excesses over the normal mean, refusals."""

from __future__ import annotations

import numpy as np
import pytest

from coherence.base.errors import UsageError
from coherence.causal.data.series import Series
from coherence.causal.ranking.setting import RankingSetting, setting_of

NAN = float("nan")
NORMAL = {"y": [1.0, 3.0, 2.0, 2.0], "a": [0.0, 2.0, 4.0, NAN], "b": [1.0, 1.0, 1.0, 1.0], "far": [9.0, 8.0, 7.0, 6.0]}
INCIDENT = {"y": [5.0, 7.0], "a": [4.0, NAN], "b": [NAN, NAN], "far": [1.0, 1.0]}
CAUSES: dict[str, tuple[str | tuple[str, int], ...]] = {"y": ("a", ("b", 2), ("y", 1), ("y", 0)), "a": ("gone",)}


def series(columns: dict[str, list[float]]) -> Series:
    return Series(tuple(columns), np.column_stack(list(columns.values())), 1.0)


def setting(target: str = "y", *, calls: bool = False) -> RankingSetting:
    return setting_of(series(NORMAL), series(INCIDENT), CAUSES, target, calls)


def test_only_ancestors_with_values_in_both_windows_take_part() -> None:
    found = setting()
    assert found.names == ("y", "a")
    assert found.target == 0
    assert found.causes == (((1, 0), (0, 1)), ())  # nothing acts on itself at once
    told = {(one.what, one.why) for one in found.excluded}
    assert told == {
        ("b", "has no values in the incident"),
        ("gone", "is not in the normal data"),
        ("a", "1 of 2 samples of the incident are missing"),
    }


def test_excesses_are_over_the_mean_of_the_normal_data() -> None:
    found = setting()
    assert found.before.T.tolist() == [[-1, 1, 0, 0], [-2, 0, 2, 0]]  # a missing sample says nothing
    assert found.now.T.tolist() == [[3, 5], [2, 2]]  # and stands at the mean of the others
    assert (len(found.sums), len(found.steady)) == (2, 2)


def test_slopes_of_calls_lie_between_none_and_all() -> None:
    falling = {**NORMAL, "a": [4.0, 0.0, 2.0, 2.0]}
    for calls, low in ((True, 0.0), (False, -1.0)):
        found = setting_of(series(falling), series(INCIDENT), {"y": ["a"]}, "y", calls)
        assert found.steady[0].tolist() == pytest.approx([low if calls else -0.5], abs=1e-9)
        assert found.calls is calls


@pytest.mark.parametrize(
    ("normal", "incident", "target", "message"),
    [
        (NORMAL, INCIDENT, "yy", "no signal 'yy' to explain"),
        ({"y": [1.0] * 4}, {"y": [1.0]}, "y", "4 normal and 1 incident samples"),
        ({"y": [1.0] * 3}, {"y": [1.0] * 2}, "y", "3 normal and 2 incident samples"),
        (NORMAL, INCIDENT, "b", "'b' has no values in one of the windows"),
    ],
)
def test_what_cannot_be_asked_is_refused(
    normal: dict[str, list[float]], incident: dict[str, list[float]], target: str, message: str
) -> None:
    with pytest.raises(UsageError, match=message):
        setting_of(series(normal), series(incident), CAUSES, target, False)
