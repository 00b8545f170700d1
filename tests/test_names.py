"""Names, sizes, tests and imports of the package: what is not yet as it should be is counted, and only shrinks.

`tests/data/allowances.yaml` holds today's exceptions.  A new one fails the test, and so does one that is gone:
`python -m tests.test_names --update` takes out what is no longer needed; it never adds.  (After a conflict in the file
take either side, then update.)
"""

from __future__ import annotations

import ast
import re
import sys
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import TypeAlias

import pytest
import yaml

from tests.paths import read_yaml
from tests.syntax_trees import nodes_below, trees_below

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "coherence"
TESTS = ROOT / "tests"
ALLOWANCES = TESTS / "data" / "allowances.yaml"

EMPTY_NAMES = frozenset({"asked", "found", "kept", "made", "one", "said", "told"})
SCOPE_LINES = 5  # of a scope in which such a name may stand
FILE_LINES = 400
FUNCTION_LINES = 40
FOLDER_MODULES = 25
TRIED_TOGETHER = {  # how the paths of modules begin that are parts of one thing -> the test that tries it, part by part
    "minimums/bounds/": "minimums/test_bounds.py",  # all that the registry finds
    "assessment/sections/": "assessment/test_page.py",  # all that the page walks
    "simulate/requests/events": "simulate/requests/test_engine.py",  # one machine, a feature a test
}
ONE_KIND = frozenset({"minimums/bounds", "importers", "cli"})  # folders of one kind: as many files as there are
ENTRANCES = ("__init__.py", "__main__.py", "door/", "minimums/adversaries/")  # adversaries are run by bench and tests

Graph: TypeAlias = Mapping[str, frozenset[str]]
Counts: TypeAlias = Mapping[str, int]


# What is measured
@cache
def package_trees() -> Mapping[str, ast.Module]:
    """Returns the tree of each file of the package, by its path under coherence/."""
    return {path.relative_to(PACKAGE).as_posix(): tree for path, tree in trees_below(PACKAGE).items()}


def nodes(path: str) -> Sequence[ast.AST]:
    """Returns all nodes of a file of the package."""
    return nodes_below(PACKAGE)[PACKAGE / path]


def shared_class_names() -> Counts:
    """Returns the class names that stand in several files, with the number of the files."""
    files: dict[str, set[str]] = defaultdict(set)
    for path in package_trees():
        for node in nodes(path):
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                files[node.name].add(path)
    return {name: len(paths) for name, paths in files.items() if len(paths) > 1}


def empty_names() -> Counts:
    """Returns how many names that say nothing each folder binds in scopes of more than five lines."""
    counts: Counter[str] = Counter()
    for path, tree in package_trees().items():
        counts[folder_of(path)] += sum(1 for _ in empty_names_in(tree))
    return {folder: count for folder, count in counts.items() if count}


def empty_names_in(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """Yields (line, name) once for each name that says nothing and each scope of more than five lines binding it."""
    for scope, bindings in scopes(tree):
        if lines(scope) > SCOPE_LINES:
            names = {name: line for line, name in reversed(bindings) if name.lstrip("_") in EMPTY_NAMES}
            yield from ((line, name) for name, line in names.items())


def scopes(scope: ast.AST) -> Iterator[tuple[ast.AST, list[tuple[int, str]]]]:
    """Yields each scope below (and with) a node, and the names that it binds, each with its line."""
    bindings: list[tuple[int, str]] = []
    inner: list[ast.AST] = []
    stack = list(ast.iter_child_nodes(scope))
    while stack:
        node = stack.pop()
        if name := bound_name(node):
            bindings.append((getattr(node, "lineno", 1), name))
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda, *COMPREHENSIONS)):
            inner.append(node)
        else:
            stack += ast.iter_child_nodes(node)
    yield scope, sorted(bindings)
    for node in inner:
        yield from scopes(node)


COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


NAMING: Mapping[type[ast.AST], str] = {
    ast.arg: "arg", ast.FunctionDef: "name", ast.AsyncFunctionDef: "name", ast.ClassDef: "name",
    ast.ExceptHandler: "name", ast.MatchAs: "name", ast.MatchStar: "name",
}  # fmt: skip


def bound_name(node: ast.AST) -> str | None:
    """Returns the name that a node binds in its scope, if it binds one."""
    if isinstance(node, ast.Name):
        return node.id if isinstance(node.ctx, ast.Store) else None
    field = NAMING.get(type(node))
    return getattr(node, field) if field else None


def lines(scope: ast.AST) -> int:
    if isinstance(scope, ast.Module):
        return max((node.end_lineno or 0 for node in scope.body), default=0)
    return (getattr(scope, "end_lineno", 0) or 0) - getattr(scope, "lineno", 0) + 1


def long_files() -> Counts:
    """Returns the files of more than 400 lines, each with 1."""
    sizes = {path: len((PACKAGE / path).read_text(encoding="utf-8").splitlines()) for path in package_trees()}
    return {path: 1 for path, size in sizes.items() if size > FILE_LINES}


def long_functions() -> Counts:
    """Returns how many functions of more than 40 lines each file has."""
    counts: Counter[str] = Counter()
    for path in package_trees():
        functions = (node for node in nodes(path) if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)))
        counts[path] = sum(lines(function) > FUNCTION_LINES for function in functions)
    return {path: count for path, count in counts.items() if count}


def crowded_folders() -> Counts:
    """Returns the folders of more than 25 modules, with their number."""
    sizes = Counter(folder_of(path) for path in package_trees() if not path.endswith("__init__.py"))
    return {folder: size for folder, size in sizes.items() if size > FOLDER_MODULES and folder not in ONE_KIND}


def modules_without_a_test() -> Counts:
    """Returns the public modules without a test or case file of their name, that no test imports or runs by name."""
    imported = {name for own in nodes_below(TESTS).values() for name in (*imports(own), *run_by_name(own))}
    cases = {path.relative_to(TESTS).with_suffix("").as_posix() for path in TESTS.rglob("*.md")}
    return {
        path: 1
        for path in package_trees()
        if not any(part.startswith("_") for part in Path(path).parts)
        and module_name(path) not in imported
        and path.removesuffix(".py") not in cases
        and not mirrored(path).exists()
        and not path.startswith(tuple(TRIED_TOGETHER))
    }


def mirrored(path: str) -> Path:
    """Returns where the test of a file of the package stands: `a/b.py` has `tests/a/test_b.py`."""
    return TESTS / Path(path).parent / f"test_{Path(path).name}"


def run_by_name(nodes: Iterable[ast.AST]) -> Iterator[str]:
    """Yields the modules behind names that tests call: `run(["check", ...])` of a command, `render("junit", ...)`."""
    for node in nodes:
        match node:
            case ast.Call(func=ast.Name(id="run"), args=[ast.List(elts=[ast.Constant(value=str(name)), *_]), *_]):
                yield f"coherence.cli.{name if name != 'import' else 'import_'}"
            case ast.Call(func=ast.Name(id="render"), args=[ast.Constant(value=str(name)), *_]):
                yield f"coherence.reporting.{name}"


def module_name(path: str) -> str:
    """Returns the dotted name of a file of the package."""
    dotted = path.removesuffix(".py").replace("/", ".")
    return f"coherence.{dotted}".removesuffix(".__init__")


def folder_of(path: str) -> str:
    return Path(path).parent.as_posix()


def imports(nodes: Iterable[ast.AST]) -> Iterator[str]:
    """Yields what a module imports in any scope: each module named, and each name taken from one."""
    for node in nodes:
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


@cache
def file_graph() -> Graph:
    """Returns the files that each file imports in any scope; a package counts where any name is taken from it."""
    files = {module_name(path): path for path in package_trees()}
    graph: dict[str, set[str]] = {path: set() for path in package_trees()}
    for path, tree in package_trees().items():
        ignored = for_type_checkers(tree)
        for node in nodes(path):
            if node in ignored:
                continue
            if isinstance(node, ast.ImportFrom) and node.module:
                named = (node.module, *(f"{node.module}.{alias.name}" for alias in node.names))
                graph[path] |= {files[name] for name in named if name in files} - {path}
            elif isinstance(node, ast.Import):
                graph[path] |= {files[alias.name] for alias in node.names if alias.name in files} - {path}
    return {path: frozenset(targets) for path, targets in graph.items()}


def for_type_checkers(tree: ast.Module) -> frozenset[ast.AST]:
    """Returns the statements under `if TYPE_CHECKING:`, whose imports are never run."""
    guards = [node for node in tree.body if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"]
    return frozenset(statement for guard in guards for statement in guard.body)


def unreached_modules() -> Counts:
    """Returns the modules that neither a command nor the front door reaches, each with 1."""
    files = {module_name(path): path for path in package_trees()}
    below: dict[str, set[str]] = defaultdict(set)  # the files right below each package
    for name, path in files.items():
        below[name.rpartition(".")[0]].add(path)
    graph = {path: targets | by_name(path, files, below) for path, targets in file_graph().items()}
    entrances = frozenset(path for path in graph if path.startswith(ENTRANCES))
    reached = entrances | reachable({**graph, "": entrances}, "")
    return {path: 1 for path in graph if path not in reached and not path.endswith("__init__.py")}


def names_only_tests_call() -> Counts:
    """Returns the public functions and classes that nothing but tests names, each with 1.

    What a page of docs/ calls, a benchmark uses, a text names or a decorator registers is reached.
    """
    pages = [*(ROOT / "docs").rglob("*.md"), *ROOT.glob("*.md")]
    called = set(re.findall(r"\b(\w+)\(", "\n".join(page.read_text(encoding="utf-8") for page in pages)))
    for folder in (PACKAGE, ROOT / "bench", ROOT / "docs"):
        for own in nodes_below(folder).values():
            called |= {name for node in own for name in names_used(node)}
    return {
        f"{path} {node.name}": 1
        for path, tree in package_trees().items()
        for node in tree.body
        if isinstance(node, (ast.FunctionDef, ast.ClassDef))
        and not node.name.startswith("_")
        and node.name not in called
        and not (isinstance(node, ast.FunctionDef) and node.decorator_list)
    }


def names_used(node: ast.AST) -> Iterator[str]:
    """Yields the names that a node reads, imports or has as its text."""
    match node:
        case ast.Name(id=name, ctx=ast.Load()) | ast.Attribute(attr=name) | ast.alias(name=name):
            yield name
        case ast.Constant(value=str(text)) if text.isidentifier():
            yield text


def by_name(path: str, files: Mapping[str, str], below: Mapping[str, set[str]]) -> frozenset[str]:
    """Returns the files that a file imports by a name which it makes: the one named, or those right below a folder.

    Of a folder, where a text is `coherence.folder.`, and where the file walks modules: those of its own folder, if it
    names that as `__path__` or `__package__`, and of folders that it names.
    """
    own = nodes(path)
    texts = [node.value for node in own if isinstance(node, ast.Constant) and isinstance(node.value, str)]
    named = {name for text in texts for name in (text, f"coherence.{text}")}
    folders = {text.removesuffix(".") for text in texts if text.endswith(".")}
    walks = {node.attr for node in own if isinstance(node, ast.Attribute)}
    if "iter_modules" in walks:
        taken = {f"{node.module}.{a.name}" for node in own if isinstance(node, ast.ImportFrom) for a in node.names}
        folders |= {*taken, *texts}
        if any(isinstance(node, ast.Name) and node.id in ("__path__", "__package__") for node in own):
            folders.add(f"coherence.{folder_of(path).replace('/', '.')}")
    walked = tuple(f"{text}." for text in texts if "walk_packages" in walks and text.startswith("coherence."))
    return frozenset(
        [
            *(files[name] for name in named if name in files),
            *(file for folder in folders - {"coherence"} for file in below.get(folder, ())),
            *(file for name, file in files.items() if walked and name.startswith(walked)),
        ]
    )


def folder_graph(files: Graph) -> Graph:
    """Returns the folders that each folder imports from, without the package in which all of them stand."""
    graph: dict[str, set[str]] = defaultdict(set)
    for path, targets in files.items():
        graph[folder_of(path)] |= {folder_of(target) for target in targets} - {folder_of(path), "."}
    return {folder: frozenset(targets) for folder, targets in graph.items()}


def circles(graph: Graph) -> list[list[str]]:
    """Returns the groups of nodes that reach each other, sorted.

    What no other node imports, or imports no other, stands in no circle; it is taken away until nothing changes, which
    leaves the circles and the ways between them.
    """
    reach = {node: reachable(graph, node) for node in left_over(graph)}
    groups = {tuple(sorted(other for other in reach[node] if node in reach.get(other, ()))) for node in reach}
    return sorted(list(group) for group in groups if group)


def left_over(graph: Graph) -> frozenset[str]:
    nodes = frozenset(graph)
    while True:
        imported = frozenset(target for node in nodes for target in graph[node])
        fewer = frozenset(node for node in nodes & imported if graph[node] & nodes)
        if fewer == nodes:
            return nodes
        nodes = fewer


def reachable(graph: Graph, start: str) -> frozenset[str]:
    """Returns the nodes that one or more steps lead to."""
    seen: set[str] = set()
    stack = [start]
    while stack:
        fresh = graph.get(stack.pop(), frozenset()) - seen
        seen |= fresh
        stack += fresh
    return frozenset(seen)


def circle_counts(graph: Graph) -> Counts:
    return {" ".join(group): len(group) for group in circles(graph)}


# What is allowed
MEASURES: Mapping[str, Callable[[], Counts]] = {
    "class names in several files": shared_class_names,
    "names that say nothing": empty_names,
    "long files": long_files,
    "long functions": long_functions,
    "crowded folders": crowded_folders,
    "modules without a test": modules_without_a_test,
    "modules that no command reaches": unreached_modules,
    "functions that only tests call": names_only_tests_call,
    "circles of files": lambda: circle_counts(file_graph()),
    "circles of folders": lambda: circle_counts(folder_graph(file_graph())),
}


def allowances() -> Mapping[str, Counts]:
    data = read_yaml(ALLOWANCES) or {}
    return {title: data.get(title) or {} for title in MEASURES}


def shrunk(allowed: Counts, measured: Counts) -> Counts:
    """Returns the allowance without what is no longer needed: it never grows."""
    return {name: min(count, measured[name]) for name, count in allowed.items() if name in measured}


def update() -> None:
    """Writes the allowances again, smaller where less is needed."""
    before = allowances()
    data = {title: dict(sorted(shrunk(before[title], measure()).items())) for title, measure in MEASURES.items()}
    words = "# Exceptions that tests/test_names.py allows; `python -m tests.test_names --update` shrinks them\n"
    ALLOWANCES.write_text(words + yaml.safe_dump(data, sort_keys=False, width=10_000), encoding="utf-8")


@pytest.mark.parametrize("title", MEASURES)
def test_there_are_as_many_exceptions_as_allowed(title: str) -> None:
    allowed, measured = allowances()[title], MEASURES[title]()
    excess = {name: count for name, count in measured.items() if count > allowed.get(name, 0)}
    assert not excess, f"new under '{title}': {excess} (allowed: { {name: allowed.get(name, 0) for name in excess} })"
    assert allowed == shrunk(allowed, measured), "fewer are needed: python -m tests.test_names --update"


def test_every_module_says_in_its_first_line_what_it_is() -> None:
    silent = [path for path, tree in package_trees().items() if not (ast.get_docstring(tree) or "").strip()]
    assert not silent


# The measures themselves
def bound(text: str) -> list[tuple[int, str]]:
    return sorted(empty_names_in(ast.parse(text)))


LONG = "\n    pass" * 5


@pytest.mark.parametrize(
    "text",
    [
        f"def f(one):{LONG}",
        f"def f():\n    found = 1{LONG}",
        f"def f():\n    for made in x:\n        pass{LONG}",
        f"def f():\n    if (told := x):\n        pass{LONG}",
        f"def f():\n    match x:\n        case [kept, *_]:\n            pass{LONG}",
        f"def f():\n    try:\n        pass\n    except E as said:\n        pass{LONG}",
        f"def _asked():{LONG}",
        f"class C:\n    made: int{LONG}",
    ],
)
def test_a_name_that_says_nothing_is_seen_in_a_long_scope(text: str) -> None:
    assert len(bound(text)) == 1


def test_a_name_counts_once_in_a_scope_however_often_it_is_bound() -> None:
    assert bound(f"def f():\n    one = 1\n    one = 2{LONG}") == [(2, "one")]


@pytest.mark.parametrize(
    "text",
    [
        "def f(one):\n    return one",
        f"def f():\n    return [one for one in x]{LONG}",
        f"def f():\n    g(lambda one: one){LONG}",
        f"def f():\n    x.found = one{LONG}",
        f"def f():\n    someone = 1{LONG}",
    ],
)
def test_a_name_in_a_small_scope_is_free(text: str) -> None:
    assert not bound(text)


def test_the_tests_mirror_the_package() -> None:
    assert all((TESTS / test).exists() for test in TRIED_TOGETHER.values())
    assert mirrored("base/units.py") == TESTS / "base" / "test_units.py"
    assert mirrored("base/units.py").exists()


def test_a_command_and_a_format_are_run_by_their_names() -> None:
    text = "run(['check', path])\nrun(['import', 'all'])\nrender('junit', report)\nrun(x)\nrender(report)\nask('junit')"
    found = set(run_by_name(ast.walk(ast.parse(text))))
    assert found == {"coherence.cli.check", "coherence.cli.import_", "coherence.reporting.junit"}


def test_circles_are_the_groups_that_reach_each_other() -> None:
    graph = {"a": "b", "b": "c", "c": "bd", "d": "e", "e": "", "f": "g", "g": "f"}
    assert circles({node: frozenset(targets) for node, targets in graph.items()}) == [["b", "c"], ["f", "g"]]


def test_a_tree_has_no_circle() -> None:
    assert circles({"a": frozenset("bc"), "b": frozenset("c"), "c": frozenset()}) == []


def test_an_allowance_shrinks_and_never_grows() -> None:
    assert shrunk({"a": 3, "b": 1, "c": 2}, {"a": 2, "c": 5, "d": 1}) == {"a": 2, "c": 2}


def report(titles: Iterable[str]) -> None:
    """Prints what is measured, for who works on it."""
    for title in titles:
        sys.stdout.write(f"{title}: {sum(MEASURES[title]().values())}\n")
        for path, tree in package_trees().items() if title == "names that say nothing" else ():
            for line, name in empty_names_in(tree):
                sys.stdout.write(f"coherence/{path}:{line}: {name}\n")


if __name__ == "__main__":
    update() if "--update" in sys.argv else report(MEASURES)
