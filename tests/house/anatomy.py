"""Measures how this repository is built: sizes, annotations, smells, import cycles.

The figures and their bars are those of the style guide; `test_figures.py` holds them.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True)
class SourceFile:
    """One parsed Python file."""

    path: Path
    text: str
    tree: ast.Module

    @property
    def lines(self) -> int:
        """Lines of the file, blank ones included."""
        return self.text.count("\n")

    @cached_property
    def nodes(self) -> list[ast.AST]:
        """The whole tree, walked once."""
        return list(ast.walk(self.tree))

    @cached_property
    def functions(self) -> list[Function]:
        """Every function and method, nested ones included."""
        return [node for node in self.nodes if isinstance(node, Function)]

    @cached_property
    def code_lines(self) -> int:
        """Lines that carry code: no blanks, no comments, no docstrings."""
        stripped = enumerate((line.lstrip() for line in self.text.splitlines()), start=1)
        code = {number for number, line in stripped if line and not line.startswith("#")}
        documented = {line for text in self._docstrings() for line in _lines_of(text)}
        return len(code - documented)

    def _docstrings(self) -> Iterator[ast.stmt]:
        for node in self.nodes:
            if isinstance(node, ast.Module | ast.ClassDef | Function):
                text = docstring(node)
                if text is not None:
                    yield text


def read_tree(roots: Sequence[Path]) -> list[SourceFile]:
    """Every Python file below the roots, in a stable order."""
    paths = [path for root in roots for path in sorted(root.rglob("*.py"))]
    texts = [(path, path.read_text()) for path in paths]
    return [SourceFile(path, text, ast.parse(text)) for path, text in texts]


def docstring(node: ast.Module | ast.ClassDef | Function) -> ast.stmt | None:
    """The statement that is the node's docstring, where it has one."""
    match node.body:
        case [ast.Expr(value=ast.Constant(value=str())) as text, *_]:
            return text
    return None


def _lines_of(node: ast.stmt) -> range:
    return range(node.lineno, (node.end_lineno or node.lineno) + 1)


def body_lines(function: Function) -> int:
    """Lines of a function with its signature and without its docstring."""
    text = docstring(function)
    whole = (function.end_lineno or function.lineno) - function.lineno + 1
    return whole - (len(_lines_of(text)) if text is not None else 0)


def is_annotated(function: Function) -> bool:
    """Whether every argument but self and cls, and the result, has a type."""
    arguments = function.args
    named = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
    stars = [star for star in (arguments.vararg, arguments.kwarg) if star is not None]
    typed = all(a.annotation for a in [*named, *stars] if a.arg not in {"self", "cls"})
    return typed and function.returns is not None


def broad_handlers(files: Sequence[SourceFile]) -> list[ast.ExceptHandler]:
    """Handlers that catch everything."""
    handlers = [n for f in files for n in f.nodes if isinstance(n, ast.ExceptHandler)]
    broad = {None, "Exception", "BaseException"}
    return [h for h in handlers if h.type is None or getattr(h.type, "id", "") in broad]


def percentile(values: Sequence[int], share: float) -> int:
    """The value below which the share of all values lies."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


def import_cycle(files: Sequence[SourceFile], roots: Sequence[Path]) -> list[str] | None:
    """Modules that import each other when loaded, or None."""
    names = {_module_name(f.path, roots): f for f in files}
    graph = {name: {t for t in _imports(f.tree) if t in names} for name, f in names.items()}
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        return list(error.args[1])
    return None


def _module_name(path: Path, roots: Sequence[Path]) -> str:
    root = next(root for root in roots if path.is_relative_to(root))
    parts = path.relative_to(root).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def _imports(tree: ast.Module) -> Iterator[str]:
    pending: list[ast.AST] = list(tree.body)
    while pending:
        node = pending.pop()
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test):
            pending.extend(node.orelse)
        elif not isinstance(node, Function):
            pending.extend(ast.iter_child_nodes(node))
