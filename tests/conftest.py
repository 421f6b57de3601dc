"""What holds for every test."""

from __future__ import annotations

import gc
import logging
import os
import signal
from collections.abc import Sequence

import pytest
from hypothesis import settings

# How long one example takes says more about the machine, and about what is imported late.
settings.register_profile("quick", deadline=None, max_examples=25)
settings.register_profile("thorough", deadline=None, max_examples=1000)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "quick"))


def _heed_signals() -> None:
    """Under nohup, or in a script's background, SIGHUP and SIGINT are ignored, and what tests start
    would inherit it."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    if signal.getsignal(signal.SIGHUP) is signal.SIG_IGN:
        signal.signal(signal.SIGHUP, signal.SIG_DFL)


_heed_signals()
gc.disable()  # until everything is collected: what is imported by then lives to the end


def pytest_collection_finish() -> None:
    """Spare the garbage collector what lives to the end anyway: modules and collected tests."""
    gc.collect()
    gc.freeze()
    gc.enable()
    _let_loggers_propagate()


def _let_loggers_propagate() -> None:
    """pytest hangs itself on each logger that does not, six times a test, and torch has forty."""
    for logger in logging.root.manager.loggerDict.values():
        if isinstance(logger, logging.Logger):
            logger.propagate = True


def pytest_collection_modifyitems(items: Sequence[pytest.Item]) -> None:
    """kafka-python leaves the socket of a connection that was being made to the collector."""
    forgiven = pytest.mark.filterwarnings("ignore:unclosed <socket:ResourceWarning")
    for item in items:
        if item.get_closest_marker("connected") is not None or "kafka" in item.nodeid:
            item.add_marker(forgiven)
