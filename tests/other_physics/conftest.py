"""Benchmarks are no installed package: their folder is found from the root of the repository."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).parents[2]))
