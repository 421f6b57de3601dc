"""An embedded broker in a process of its own, to be killed."""

from __future__ import annotations

import sys
from pathlib import Path

from paramedic.ingest.bus.embedded.broker import EmbeddedBroker


def main() -> None:
    """Serve until standard input ends or the process is killed."""
    with EmbeddedBroker(Path(sys.argv[1])):
        print("serving", flush=True)  # noqa: T201 (the test waits for it)
        sys.stdin.read()


if __name__ == "__main__":
    main()
