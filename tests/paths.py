"""Folders that tests read, and how a file of data is read."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).resolve().parents[1]
SPECS = ROOT / "specs"
DATA = ROOT / "tests" / "data"


def read_yaml(path: Path) -> Any:
    """Returns what a file of data holds, by the reader in C where there is one: it takes a tenth of the time."""
    return yaml.load(path.read_bytes(), Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))  # noqa: S506  (safe)
