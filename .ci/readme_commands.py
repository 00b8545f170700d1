"""Print the commands of a Markdown file's ```bash blocks, one a line: the exit code to expect, a tab, the command.

A backslash at the end of a line joins it with the next.  A comment `# exit 1` after a command says which
exit code it has; without it the code is 0.  Other comments and empty lines are left out.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path

_BLOCK = re.compile(r"^```bash[ \t]*\n(.*?)^```[ \t]*$", re.MULTILINE | re.DOTALL)
_COMMENT = re.compile(r"\s+#\s+(?P<words>[^'\"]*)$")
_EXIT = re.compile(r"\bexit (\d+)")


def commands(markdown: str) -> Iterator[tuple[int, str]]:
    """(expected exit code, command) of each command line, in order."""
    for block in _BLOCK.findall(markdown):
        for line in block.replace("\\\n", " ").splitlines():
            text = line.strip()
            if not text or text.startswith("#"):
                continue
            comment = _COMMENT.search(text)
            code = _EXIT.search(comment["words"]) if comment else None
            yield int(code[1]) if code else 0, _COMMENT.sub("", text)


def main() -> int:
    """Print the commands of the file named on the command line.  Exit code 1 when there is none."""
    found = list(commands(Path(sys.argv[1]).read_text(encoding="utf-8")))
    for code, command in found:
        print(f"{code}\t{command}")
    return 0 if found else 1


if __name__ == "__main__":
    sys.exit(main())
