"""Loads the kernel of the inference server as it runs where numba is not installed: Python can call its helpers."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import ModuleType

import pytest

from coherence.simulate import serving
from coherence.simulate.requests import compiled as compiling
from coherence.simulate.serving import blocks, fleet, kernel, state

MODULES = (state, blocks, kernel, fleet)  # each before those that import it


@contextmanager
def plain_kernel() -> Iterator[list[ModuleType]]:
    """Puts the plain modules, in the order of `MODULES`, in the place of the compiled ones."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(compiling, "COMPILES", False)
        modules = []
        for module in MODULES:
            spec = importlib.util.find_spec(module.__name__)
            assert spec is not None
            assert spec.loader is not None
            modules.append(importlib.util.module_from_spec(spec))
            patch.setitem(sys.modules, spec.name, modules[-1])
            patch.setattr(serving, spec.name.rpartition(".")[2], modules[-1])
            spec.loader.exec_module(modules[-1])
        yield modules
