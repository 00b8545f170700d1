"""Repositories that tests of the comparison with a commit make."""

from __future__ import annotations

import subprocess
from pathlib import Path


class Repository:
    """A git repository in a folder, which is the working directory."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.git("init", "-q", "-b", "main", ".")

    def git(self, *words: str) -> None:
        who = ["-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false"]
        subprocess.run(["git", *who, *words], cwd=self.folder, check=True, capture_output=True)  # noqa: S607

    def commit(self, **files: str) -> None:
        for name, text in files.items():
            (self.folder / f"{name}.yaml").write_text(text)
        self.git("add", "-A")
        self.git("commit", "-q", "--allow-empty", "-m", "a state")
