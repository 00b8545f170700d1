"""The page that lays our answers beside the documented checks of linters, on the same manifests.

`python -m tests.incidents.linters` writes docs/linters.md from the marks of manifests.md, which test_cases.py holds.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from tests.case_files import MARK
from tests.paths import DATA, ROOT, read_yaml

PAGE = ROOT / "docs" / "linters.md"
CASES = ROOT / "tests" / "incidents" / "manifests.md"
LINTERS = ("istioctl", "kube-linter", "kube-score", "polaris", "kyverno", "KICS")
HEAD = """# Beside the linters

The same manifests ([tests/incidents/manifests.md](../tests/incidents/manifests.md), from public threads): what
`coherence` finds in them, and what linters document. Linters were read, not run; `no` is no documented check.
Written by `python -m tests.incidents.linters`. Nothing on this page is executed by the tests.

"""


def conflicts() -> Mapping[str, tuple[str, ...]]:
    """Returns the codes of the conflicts that the cases of each incident state."""
    sections = re.split(r"^## (\S+):", CASES.read_text(encoding="utf-8"), flags=re.MULTILINE)[1:]
    cases = zip(sections[::2], sections[1::2], strict=True)
    return {
        name: tuple(sorted({code for code, verdict, *_ in MARK.findall(text) if verdict == "conflict"}))
        for name, text in cases
    }


def page() -> str:
    """Returns the text of the page."""
    return HEAD + "\n".join(_rows()) + "\n"


def _rows() -> Iterator[str]:
    stated = read_yaml(DATA / "linters.yaml")["rows"]
    own = conflicts()
    yield f"| what | incidents | coherence | {' | '.join(LINTERS)} |"
    yield "|---" * (3 + len(LINTERS)) + "|"
    for row in stated:
        codes = sorted({code for name in row["incidents"] for code in own[name]})
        cells = [row["what"], ", ".join(row["incidents"]), ", ".join(codes), *(row.get(key, "no") for key in LINTERS)]
        yield f"| {' | '.join(cells)} |"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
