"""What every scenario begins with."""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from scenarios.case import Case


@pytest.fixture(name="case")
def _case(tmp_path: Path) -> Iterator[Case]:
    with tempfile.TemporaryDirectory(prefix="pm-", dir="/tmp") as temporary:
        case = Case(tmp_path, f"{os.getpid()}-{time.monotonic_ns()}", Path(temporary))
        yield case
        case.end_everything()
