"""Lays out the files that a commit of a git repository holds, so that they are checked like those of today.

git is asked for objects alone: it runs no hook, no filter and no program of the repository's settings, and fetches
nothing.  A symbolic link is laid out where it stays inside the repository; a submodule is not.
"""

from __future__ import annotations

import contextlib
import os
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from coherence.base.errors import UsageError
from coherence.base.units import shorten
from coherence.checking.input_files import OTHERS, SUFFIXES

_QUIET = {
    "GIT_OPTIONAL_LOCKS": "0", "GIT_TERMINAL_PROMPT": "0", "GIT_NO_LAZY_FETCH": "1", "GIT_LITERAL_PATHSPECS": "1",
    "LC_ALL": "C",
}  # fmt: skip
_FILE, _LINK = ("100644", "100755"), "120000"


@dataclass(frozen=True)
class EarlierTree:
    """The files of a commit below a folder.

    `today` are the paths of today, without links; `paths` are those of them that the commit has, in the folder.
    `root` is the working directory there: relative to it a file has the name that it has today.
    """

    commit: str
    left: bool  # the commit is where the branch of today left the one that was named
    today: tuple[str, ...]
    paths: tuple[str, ...]
    root: Path


@dataclass(frozen=True)
class EarlierDesign:
    """A path as it stood at a commit: where it lies now, the root that it is named from, and the commit, shortened."""

    path: str
    root: Path
    commit: str


@contextlib.contextmanager
def earlier_design(ref: str, path: str) -> Iterator[EarlierDesign]:
    """Yields what stood at a path when today's branch left `ref`.  Raises UsageError where nothing stood there."""
    with earlier_tree(ref, [path]) as tree:
        if not tree.paths:
            raise UsageError(f"{path}: nothing stood there at {tree.commit[:12]}: name a path that the commit has")
        yield EarlierDesign(tree.paths[0], tree.root, tree.commit[:12])


@contextlib.contextmanager
def earlier_tree(ref: str, paths: Sequence[str]) -> Iterator[EarlierTree]:
    """Yields the files under some paths as they stood when today's branch left `ref`; removes them afterwards.

    Where the two have no commit in common (or it was not fetched) they are those of `ref` itself.
    Raises UsageError where there is no such commit, or a path lies in no repository or in another one.
    """
    real = [os.path.realpath(path) for path in paths]
    repository = Path(_repository(real[0], paths[0]))
    for path, named in zip(real, paths, strict=True):
        if not Path(path).is_relative_to(repository):
            raise UsageError(f"{named} lies outside {repository}: --since compares paths of one repository")
    commit, left = _commit(repository, ref)
    with tempfile.TemporaryDirectory(prefix="coherence-since-") as folder:
        place = Path(folder).resolve()
        laid = [_below(place, path) for path in real]
        _lay_out(repository, commit, [os.path.relpath(path, repository) for path in real], _below(place, repository))
        yield EarlierTree(
            commit,
            left,
            tuple(real),
            tuple(str(path) for path in laid if path.exists()),
            _below(place, os.path.realpath(os.getcwd())),  # noqa: PTH109
        )


def _below(folder: Path, path: str | Path) -> Path:
    return folder.joinpath(*Path(path).parts[1:])


def _git(folder: str | Path, *words: str, data: bytes | None = None) -> subprocess.CompletedProcess[bytes]:
    command = ["git", "-c", "protocol.allow=never", "-c", "core.fsmonitor=false", *words]
    try:
        return subprocess.run(  # noqa: S603  (no shell; a ref stands behind --end-of-options)
            command, cwd=folder, env={**os.environ, **_QUIET}, input=data, capture_output=True, check=False
        )
    except FileNotFoundError:
        raise UsageError("--since reads a git repository, and there is no program `git` here: install it") from None


def _repository(path: str, named: str) -> str:
    folder = path if os.path.isdir(path) else os.path.dirname(path)  # noqa: PTH112, PTH120
    if not os.path.isdir(folder):  # noqa: PTH112
        raise UsageError(f"there is no {named}")
    answer = _git(folder, "rev-parse", "--show-toplevel")
    if answer.returncode:
        reason = shorten(answer.stderr.decode(errors="replace").strip().partition("\n")[0])
        raise UsageError(f"{named} is in no git repository that can be read ({reason}): --since compares with a commit")
    return os.path.realpath(os.fsdecode(answer.stdout.rstrip(b"\n")))


def _commit(repository: Path, ref: str) -> tuple[str, bool]:
    """Returns the commit at which today's branch left `ref`, and whether it is another one than `ref`."""
    text = ref.replace("\0", "?")  # which no name of a commit has either
    answer = _git(repository, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{text}^{{commit}}")
    if answer.returncode:
        raise UsageError(
            f"there is no commit '{shorten(ref)}' in {repository}; where the clone is shallow, fetch it first"
        )
    named = answer.stdout.decode("ascii").strip()
    base = _git(repository, "merge-base", named, "HEAD")
    common = base.stdout.decode("ascii").split()[:1] if base.returncode == 0 else []
    return (common[0], common[0] != named) if common else (named, False)


def _lay_out(repository: Path, commit: str, paths: Sequence[str], into: Path) -> None:
    """Writes the files of a commit that a check may read, and those that are named themselves."""
    listed = _git(repository, "ls-tree", "-r", "-z", "--full-tree", commit).stdout.split(b"\0")
    wanted: list[tuple[str, str, str]] = []
    for line in filter(None, listed):
        about, _, raw = line.partition(b"\t")
        mode, _, identity = about.decode("ascii").split()[:3]
        name = os.fsdecode(raw)
        under = any(path in (".", name) or name.startswith(f"{path}/") for path in paths)
        if under and (name.lower().endswith(SUFFIXES + OTHERS) or name in paths) and mode in (*_FILE, _LINK):
            wanted.append((mode, identity, name))
    contents = _contents(repository, [identity for _, identity, _ in wanted])
    for (mode, _, name), content in zip(wanted, contents, strict=True):
        target = Path(os.path.normpath(into / name))
        if target.is_relative_to(into):  # a tree that was made by hand may hold `..`
            _write(target, content, into, link=mode == _LINK)


def _write(target: Path, content: bytes, into: Path, *, link: bool) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    if not link:
        target.write_bytes(content)
    elif Path(os.path.normpath(target.parent / os.fsdecode(content))).is_relative_to(into):
        target.symlink_to(os.fsdecode(content))


def _contents(repository: Path, identities: Sequence[str]) -> Iterator[bytes]:
    """Yields the content of each object."""
    data = "".join(f"{identity}\n" for identity in identities).encode("ascii")
    answer, position = _git(repository, "cat-file", "--batch", data=data).stdout, 0
    for identity in identities:
        end = answer.index(b"\n", position)
        head = answer[position:end].split()
        if len(head) != 3:
            raise UsageError(f"the object {identity} is missing in {repository}: fetch it first")
        size = int(head[2])
        yield answer[end + 1 : end + 1 + size]
        position = end + 2 + size
