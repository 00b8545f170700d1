"""The files of a commit: which commit is meant, what is refused, and that nothing is laid out elsewhere."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from coherence.base.errors import UsageError
from coherence.checking.earlier_tree import earlier_tree
from tests.checking.git_repositories import Repository

TEXT = "coherence: 1\n"


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Repository:
    (tmp_path / "work").mkdir()
    monkeypatch.chdir(tmp_path / "work")
    return Repository(tmp_path / "work")


def laid_out(ref: str, *paths: str) -> dict[str, str]:
    """Returns the text of every file that is laid out, by its name relative to the working directory there."""
    with earlier_tree(ref, paths or ["."]) as tree:
        files = [path for path in tree.root.parent.rglob("*") if path.is_file()]
        return {path.relative_to(tree.root).as_posix(): path.read_text(encoding="utf-8") for path in files}


def test_the_files_of_a_commit_that_a_check_may_read_are_laid_out(repository: Repository) -> None:
    (repository.folder / "notes.txt").write_text("a")
    (repository.folder / "x.conf").write_text("b")
    repository.commit(a=TEXT)
    (repository.folder / "a.yaml").write_text("later")
    assert laid_out("HEAD") == {"a.yaml": TEXT, "x.conf": "b"}
    assert laid_out("HEAD", "a.yaml") == {"a.yaml": TEXT}
    assert laid_out("HEAD", "notes.txt") == {"notes.txt": "a"}
    with earlier_tree("HEAD", ["."]) as tree:
        folder = tree.root
    assert not folder.exists()


@pytest.mark.parametrize("ref", ["nothing", "--help", "-n", "main~9", "main:a.yaml", "", "a b", "main\n", "a\0b"])
def test_what_is_no_commit_is_refused(repository: Repository, ref: str) -> None:
    repository.commit(a=TEXT)
    with pytest.raises(UsageError, match="there is no commit"):
        laid_out(ref)


def test_a_path_outside_the_repository_is_refused(repository: Repository) -> None:
    repository.commit(a=TEXT)
    (repository.folder.parent / "b.yaml").write_text(TEXT)
    with pytest.raises(UsageError, match="of one repository"):
        laid_out("HEAD", "a.yaml", "../b.yaml")
    with pytest.raises(UsageError, match="in no git repository"):
        laid_out("HEAD", "../b.yaml")
    with pytest.raises(UsageError, match="there is no absent"):
        laid_out("HEAD", "absent/a.yaml")


def test_without_git_it_says_so(repository: Repository, monkeypatch: pytest.MonkeyPatch) -> None:
    repository.commit(a=TEXT)
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(UsageError, match="no program `git`"):
        laid_out("HEAD")


def test_a_tree_made_by_hand_writes_nothing_outside(repository: Repository) -> None:
    """git's own commands refuse such names; objects from elsewhere may hold them."""
    repository.commit(a=TEXT)

    def stored(kind: str, data: bytes) -> str:
        command = ["git", "hash-object", "-t", kind, "-w", "--literally", "--stdin"]
        done = subprocess.run(command, input=data, cwd=repository.folder, capture_output=True, check=True)
        return done.stdout.decode().strip()

    blob = bytes.fromhex(stored("blob", b"owned"))
    inner = bytes.fromhex(stored("tree", b"100644 owned.yaml\0" + blob))
    outer = bytes.fromhex(stored("tree", b"40000 ..\0" + inner + b"100644 b.yaml\0" + blob))
    tree = stored("tree", b"40000 ..\0" + outer + b"100644 c.yaml\0" + blob)
    who = b"a <a@example.org> 0 +0000"
    commit = stored("commit", b"tree " + tree.encode() + b"\nauthor " + who + b"\ncommitter " + who + b"\n\nx\n")
    repository.git("update-ref", "refs/heads/made", commit)
    assert laid_out("made") == {"c.yaml": "owned"}
