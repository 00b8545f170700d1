"""What every test needs: a cache folder of its own, so that no answer comes from, or goes to, the user's."""

from __future__ import annotations

import gc
import os
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from hypothesis import settings

from coherence.__main__ import COLLECT
from tests.draws import few

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # before numpy, as the command line does it
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)  # what tests start is compiled once, and not by each of them
settings.register_profile("ci", settings.get_profile("ci"), max_examples=few(100))
settings.register_profile("default", settings.get_profile("default"), max_examples=few(100), deadline=None)
gc.disable()  # while tests are collected: nearly all of that lasts to the end


SLOW = re.compile(r"\bmark\.slow\b|\btrace_counts\(|\bseeds\(")  # how a module says that some of its tests are slow


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Leaves out the modules that have no slow test where the slow ones alone are run: two of three."""
    is_module = collection_path.name.startswith("test_") and collection_path.suffix == ".py"
    only_slow = is_module and config.getoption("markexpr") == "slow"
    return True if only_slow and not SLOW.search(collection_path.read_text(encoding="utf-8")) else None


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: Sequence[pytest.Item]) -> None:
    """Raises UsageError where a slow test stands in a module that does not say so: nobody would run it."""
    modules = {item.path for item in items if item.get_closest_marker("slow") is not None}
    unsaid = [str(path) for path in sorted(modules) if not SLOW.search(path.read_text(encoding="utf-8"))]
    if unsaid:
        raise pytest.UsageError(f"write `mark.slow` where a test is slow, not by way of another module: {unsaid}")


def pytest_collection_finish() -> None:
    """Has no look for garbage walk through what was collected."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(*COLLECT)  # as the command line has it
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
