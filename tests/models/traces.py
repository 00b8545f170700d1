"""Says how many random traces a comparison draws: few in a test run, as many as `TRACES` says where it is set.

`TRACES=10000 python -m pytest tests/models` lays every part beside its original 10,000 times.
"""

from __future__ import annotations

import os

import pytest


def traces_of(few: int, share: int = 1) -> pytest.MarkDecorator:
    """Returns the mark that gives a test its number of `traces`; a costly test draws one `share` of what is asked."""
    wanted = os.environ.get("TRACES")
    return pytest.mark.parametrize("traces", [max(few, int(wanted) // share) if wanted else few])
