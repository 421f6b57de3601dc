"""What holds for every test."""

from __future__ import annotations

import gc
import os

from hypothesis import settings

# How long one example takes says more about the machine, and about what is imported late.
settings.register_profile("quick", deadline=None, max_examples=25)
settings.register_profile("thorough", deadline=None, max_examples=1000)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "quick"))


def pytest_collection_finish() -> None:
    """Spare the garbage collector what lives to the end anyway: modules and collected tests."""
    gc.collect()
    gc.freeze()
