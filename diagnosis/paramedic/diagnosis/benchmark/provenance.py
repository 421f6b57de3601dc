"""Which code and settings made a result: one that other code made is no result of this one's."""

from __future__ import annotations

import ast
import hashlib
import pickle
import pickletools
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from paramedic.models.detection import FaultyMachineDetector

_OURS = "paramedic."
_DIGITS = 16
_DATA = (".toml", ".json")


def makers_of(detectors: Sequence[FaultyMachineDetector]) -> Mapping[str, str]:
    """By the name of each detector, which is not trained yet, a digest of its code and settings.

    Both are told by the bytes that take the detector to another process; nobody loads them.
    """
    return {one.name: _maker_of(pickle.dumps(one)) for one in detectors}


def code_digest(*modules: str) -> str:
    """Of what these modules and all of ours that they import say, and of the data beside them.

    Comments in code are left aside.
    """
    reached: set[str] = set()
    waiting = list(modules)
    while waiting:
        name = waiting.pop()
        if name not in reached:
            reached.add(name)
            waiting.extend(_imported(name))
    code = [f"{name} {ast.dump(_parsed(name))}".encode() for name in sorted(reached)]
    data = sorted({file for name in reached for file in _data_beside(name)})
    return _digest([*code, *(file.name.encode() + file.read_bytes() for file in data)])


def _maker_of(travelling: bytes) -> str:
    words = (word for _code, word, _at in pickletools.genops(travelling) if isinstance(word, str))
    modules = {word for word in words if _is_ours(word)}
    return _digest([code_digest(*sorted(modules)).encode(), travelling])


@cache
def _imported(module: str) -> frozenset[str]:
    """Our modules that this one names in an import, in functions too."""
    return frozenset(
        name for node in ast.walk(_parsed(module)) for name in _named(node) if _is_ours(name)
    )


def _named(node: ast.AST) -> Iterator[str]:
    if isinstance(node, ast.Import):
        yield from (one.name for one in node.names)
    elif isinstance(node, ast.ImportFrom) and node.module:
        yield node.module
        yield from (f"{node.module}.{one.name}" for one in node.names)


def _is_ours(name: str) -> bool:
    """Whether there is such a module; what an import names may as well be a class of one."""
    if not name.startswith(_OURS):
        return False
    holder, _, _own = name.rpartition(".")
    known = find_spec(holder)
    if known is None or known.submodule_search_locations is None:
        return False
    return find_spec(name) is not None


@cache
def _parsed(module: str) -> ast.Module:
    """What a module says; nothing, if it has no file of its own, as a namespace."""
    known = find_spec(module)
    if known is None or known.origin is None or not known.has_location:
        return ast.parse("")
    return ast.parse(Path(known.origin).read_text(encoding="utf-8"))


@cache
def _data_beside(module: str) -> frozenset[Path]:
    """What the module may read: files of its package that are no code."""
    known = find_spec(module)
    if known is None or known.origin is None or not known.has_location:
        return frozenset()
    beside = Path(known.origin).parent.iterdir()
    return frozenset(file for file in beside if file.suffix in _DATA)


def _digest(parts: Sequence[bytes]) -> str:
    whole = hashlib.sha256()
    for part in parts:
        whole.update(hashlib.sha256(part).digest())
    return whole.hexdigest()[:_DIGITS]
