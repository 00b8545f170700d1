"""Times of options: quantities of time, and what is none."""

from __future__ import annotations

import pytest

from coherence.base.errors import UsageError
from coherence.cli._seconds import seconds_of


@pytest.mark.parametrize(("text", "seconds"), [("10 min", 600), ("250 ms", 0.25), ("0", 0)])
def test_a_quantity_is_a_number_of_seconds(text: str, seconds: float) -> None:
    assert seconds_of(text, "--for") == seconds


@pytest.mark.parametrize("text", ["", "3", "5 MiB", "soon"])
def test_what_is_no_time_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match=r"--for .* is not a time; write for example '10 min'"):
        seconds_of(text, "--for")


def test_a_time_that_no_float_holds_is_refused() -> None:
    with pytest.raises(UsageError, match="too long a time"):
        seconds_of("1e400 s", "--for")
