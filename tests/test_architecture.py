"""The shape of the package: layers, front door, the homes of heavy libraries, and nothing that runs text."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

import coherence
from tests.syntax_trees import nodes_below, trees_below

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "coherence"
MODULES = sorted(PACKAGE.rglob("*.py"))
FRONT_DOOR = 22

# library -> the places under coherence/ that may import it, in any scope
HOMES = {
    "z3": ("base/solver.py",),
    "cvc5": ("base/solver.py",),
    "control": ("loops/",),
    "pgmpy": ("causal/",),
    "pandas": ("causal/", "door/"),
    "sympy": ("language/expressions/", "minimums/"),
}
# never at the top of a module that `--help` or a policy check may import
LAZY = frozenset(
    {"control", "cvc5", "highspy", "matplotlib", "networkx", "numpy", "pandas", "pgmpy", "scipy", "sympy", "z3"}
)
SPINE = (
    "base/",
    "checking/",
    "cli/",
    "findings/",
    "importers/",
    "language/",
    "model/",
    "reporting/",
    "simulate/__init__.py",
    "simulate/execute/exact.py",
    "verify/__init__.py",
)


def imports(nodes: Iterable[ast.AST]) -> Iterator[tuple[int, str]]:
    """(line, library) of every absolute import in any scope."""
    for node in nodes:
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name.split(".")[0]) for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield node.lineno, node.module.split(".")[0]
        elif isinstance(node, ast.Call) and called(node) in {"import_module", "__import__"}:
            first = node.args[0] if node.args else None
            if isinstance(first, ast.Constant) and isinstance(first.value, str):
                yield node.lineno, first.value.split(".")[0]


def eager_imports(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """(line, library) of the imports that run when the module is imported, those for type checkers left out."""
    for node in tree.body:
        match node:
            case ast.If(test=ast.Name(id="TYPE_CHECKING")):
                continue
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                continue
            case _:
                yield from imports(ast.walk(node))


def called(node: ast.Call) -> str:
    """The last name of what is called: `sympy.sympify(x)` calls `sympify`."""
    match node.func:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name
        case _:
            return ""


def runs_text(nodes: Iterable[ast.AST]) -> Iterator[tuple[int, str]]:
    """(line, name) of every call that runs text as code.

    A method named `eval` is not the builtin (z3's models have one), but pandas' and numexpr's run text;
    they cannot be told apart here, so z3's is written `evaluate` or stands in the one module that imports z3.
    """
    for node in nodes:
        if not isinstance(node, ast.Call):
            continue
        name = called(node)
        if name in {"eval", "exec", "sympify", "parse_expr"} or (name == "compile" and isinstance(node.func, ast.Name)):
            yield node.lineno, name


def inside(path: Path, homes: tuple[str, ...]) -> bool:
    name = path.relative_to(PACKAGE).as_posix()
    return any(name == home or (home.endswith("/") and name.startswith(home)) for home in homes)


def shown(found: list[tuple[Path, int, str]]) -> str:
    return "\n".join(f"{path.relative_to(ROOT)}:{line}: {what}" for path, line, what in found)


@pytest.mark.parametrize(
    "text", ["eval('1')", "exec(code)", "import sympy\nsympy.sympify(t)", "compile(t, '', 'eval')", "frame.eval(t)"]
)
def test_running_text_is_recognised(text: str) -> None:
    assert list(runs_text(ast.walk(ast.parse(text))))


@pytest.mark.parametrize("text", ["re.compile(t)", "model.evaluate(x)", "x.evalf()", "'eval(1)'"])
def test_harmless_calls_are_not_running_text(text: str) -> None:
    assert not list(runs_text(ast.walk(ast.parse(text))))


@pytest.mark.parametrize(
    "text",
    [
        "import z3",
        "import z3.z3util",
        "from z3 import Real",
        "def f():\n    import z3",
        "importlib.import_module('z3')",
    ],
)
def test_an_import_is_seen_in_every_form(text: str) -> None:
    assert "z3" in {library for _, library in imports(ast.walk(ast.parse(text)))}


def test_an_import_inside_a_function_is_lazy() -> None:
    assert not list(eager_imports(ast.parse("def f():\n    import z3")))
    assert [
        library for _, library in eager_imports(ast.parse("try:\n    import z3\nexcept ImportError:\n    pass"))
    ] == ["z3"]


def test_the_package_was_found() -> None:
    assert PACKAGE / "findings" / "finding.py" in MODULES


def test_import_contracts_hold() -> None:
    command = [
        sys.executable,
        "-c",
        "from importlinter.cli import lint_imports_command as run; run()",
        "--no-cache",
        "--no-logo",
    ]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "0 broken" in done.stdout


def test_the_front_door_is_small_and_open() -> None:
    assert 0 < len(coherence.__all__) <= FRONT_DOOR
    assert len(set(coherence.__all__)) == len(coherence.__all__)
    for name in coherence.__all__:
        assert getattr(coherence, name) is not None


def test_nothing_runs_text() -> None:
    found = [
        (path, line, name)
        for path in MODULES
        if not inside(path, HOMES["z3"])
        for line, name in runs_text(nodes_below(PACKAGE)[path])
    ]
    assert not found, shown(found)


def test_the_builtins_that_run_text_are_not_called_in_the_solver_either() -> None:
    tree = trees_below(PACKAGE)[PACKAGE / "base" / "solver.py"]
    names = {node.func.id for node in ast.walk(tree) if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)}
    assert not names & {"eval", "exec", "compile"}


@pytest.mark.parametrize("library", sorted(HOMES))
def test_each_heavy_library_has_one_home(library: str) -> None:
    found = [
        (path, line, name)
        for path in MODULES
        if not inside(path, HOMES[library])
        for line, name in imports(nodes_below(PACKAGE)[path])
        if name == library
    ]
    assert not found, shown(found)


def test_the_way_of_a_policy_check_imports_nothing_heavy() -> None:
    way = [path for path in MODULES if path.name != "solver.py" and (path.parent == PACKAGE or inside(path, SPINE))]
    trees = trees_below(PACKAGE)
    found = [(path, line, name) for path in way for line, name in eager_imports(trees[path]) if name in LAZY]
    assert not found, shown(found)


def test_the_table_for_contributors_is_in_the_order_of_the_contract() -> None:
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["importlinter"][
        "contracts"
    ]
    layers = next(contract["layers"] for contract in contracts if contract["id"] == "layers")
    folders = [name.strip() for layer in reversed(layers) for name in layer.split("|")]
    rows = re.findall(r"^\| `(\w+)` \|", (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert rows == [name for name in folders if name != "(__main__)"]
