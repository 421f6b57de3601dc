"""Lets a process that works for another end when that one is gone, however it went.

A pool's processes wait for more to do, and whoever was killed cannot tell them that nothing comes.
"""

from __future__ import annotations

import multiprocessing
import os
import threading
from multiprocessing.connection import wait

EXIT_CODE = 1


def end_with_parent() -> None:
    """From now on; a process that was started by nobody is left alone."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        threading.Thread(target=_outlive, args=(parent.sentinel,), daemon=True).start()


def _outlive(sentinel: int) -> None:
    wait([sentinel])
    os._exit(EXIT_CODE)  # what it is at may take minutes, and nobody waits for it any more
