"""What another process of ours wants people to read, through a pipe."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import ExitStack

_LINES_BYTES = 65536


class LinesForPeople:
    """A pipe through which the collecting process says lines for people; each is said once."""

    def __init__(self, stack: ExitStack, say_line: Callable[[str], None]) -> None:
        self.read_end, self.write_end = os.pipe()
        for end in (self.read_end, self.write_end):
            stack.callback(os.close, end)
        self._say = say_line
        self._rest = b""
        self._last = ""

    def pass_on(self) -> None:
        """Say what has come."""
        *whole, self._rest = (self._rest + os.read(self.read_end, _LINES_BYTES)).split(b"\n")
        for line in (one.decode("utf-8", "replace") for one in whole):
            if line != self._last:  # a process that is started again and again has one trouble
                self._say(line)
            self._last = line
