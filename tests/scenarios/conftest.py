"""What every scenario begins with."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from scenarios.case import Case


@pytest.fixture(name="case")
def _case(tmp_path: Path) -> Iterator[Case]:
    case = Case(tmp_path, f"{os.getpid()}-{time.monotonic_ns()}")
    yield case
    case.end_everything()
