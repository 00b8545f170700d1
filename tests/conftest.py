"""What every test needs: a cache folder of its own, so that no answer comes from, or goes to, the user's."""

from __future__ import annotations

import gc
import os
from collections.abc import Iterator

import pytest
from hypothesis import settings

from tests.draws import few

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # before numpy, as the command line does it
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)  # what tests start is compiled once, and not by each of them
settings.register_profile("ci", settings.get_profile("ci"), max_examples=few(100))
settings.register_profile("default", settings.get_profile("default"), max_examples=few(100), deadline=None)
gc.disable()  # while tests are collected: nearly all of that lasts to the end


def pytest_collection_finish() -> None:
    """Has no look for garbage walk through what was collected."""
    gc.collect()
    gc.freeze()
    gc.enable()


@pytest.fixture(scope="session", autouse=True)
def own_cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    before = os.environ.get("XDG_CACHE_HOME")
    os.environ["XDG_CACHE_HOME"] = str(tmp_path_factory.mktemp("cache"))
    yield
    if before is None:
        del os.environ["XDG_CACHE_HOME"]
    else:
        os.environ["XDG_CACHE_HOME"] = before
