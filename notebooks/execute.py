"""Executes every notebook from its first cell to its last, each in a kernel of its own.

    python notebooks/execute.py [--out FOLDER] [NAME …]

What lies in the repository stays without outputs; `--out` keeps executed copies. Exit 1 when a cell
fails, with its traceback on standard error. `PARAMEDIC_NOTEBOOKS_QUICK=1` makes it a minute.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

import nbformat
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError

FOLDER = Path(__file__).parent
_CELL_TIMEOUT_SECONDS = 1800


def execute(path: Path, out: Path | None) -> None:
    """Execute one notebook. Raises CellExecutionError for the first cell that fails."""
    notebook = nbformat.read(path, as_version=4)
    resources = {"metadata": {"path": str(path.parent)}}
    client = NotebookClient(notebook, timeout=_CELL_TIMEOUT_SECONDS, resources=resources)
    client.execute()
    if out is not None:
        out.mkdir(parents=True, exist_ok=True)
        nbformat.write(notebook, out / path.name)


def main(arguments: list[str]) -> int:
    """Execute what was named, or all of them."""
    parser = argparse.ArgumentParser(description="Executes the notebooks end to end.")
    parser.add_argument("names", nargs="*", metavar="NAME", help="without its ending; default: all")
    parser.add_argument("--out", type=Path, help="keep executed copies in this folder")
    wanted = parser.parse_args(arguments)
    known = {path.stem: path for path in sorted(FOLDER.glob("*.ipynb"))}
    unknown = [name for name in wanted.names if name not in known]
    if unknown:
        parser.error(f"no notebook {unknown[0]}: there are {', '.join(known)}")
    for name in wanted.names or known:
        begun = time.monotonic()
        try:
            execute(known[name], wanted.out)
        except CellExecutionError as error:
            print(f"{name}: {error}", file=sys.stderr)
            return 1
        print(f"{name}: executed in {time.monotonic() - begun:.0f} s", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
