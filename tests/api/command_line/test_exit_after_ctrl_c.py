"""Ctrl-C that falls into text that Python executes, as each dataclass is made by: the exit code."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from paramedic.api.command_line.main import INTERRUPTED

_INTERRUPTED_WHILE_TEXT_IS_EXECUTED = """
import os
import signal
import sys

from paramedic.api.command_line.main import _answer_signals_with, _raise, _say_goodbye

_answer_signals_with(_raise)
try:
    exec("os.kill(os.getpid(), signal.SIGINT)")
except KeyboardInterrupt as interrupt:
    sys.exit(_say_goodbye(interrupt))
"""


def test_ctrl_c_while_a_class_is_made_still_ends_with_our_exit_code(tmp_path: Path) -> None:
    (tmp_path / "interrupted_early.py").write_text(_INTERRUPTED_WHILE_TEXT_IS_EXECUTED)
    done = subprocess.run(  # only `python -m` looks at what an executed text left behind
        [sys.executable, "-m", "interrupted_early"],
        cwd=tmp_path, env={**os.environ, "PYTHONPATH": str(tmp_path)},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (INTERRUPTED, "paramedic: interrupted\n")
