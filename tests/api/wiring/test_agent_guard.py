"""The end of the agent's thread is one line on the terminal, and its reason is in the log."""

from __future__ import annotations

import logging
import threading
from dataclasses import dataclass

import pytest

from paramedic.api.wiring.agent_guard import AgentGuard, threads_end_in_the_log


@dataclass
class FakeAgent:
    """Dies when it is told to."""

    has_died: bool = False


def test_the_death_of_the_agent_is_said_once() -> None:
    agent, said = FakeAgent(), list[str]()
    guard = AgentGuard(agent, said.append)
    guard.look()
    assert said == []
    agent.has_died = True
    guard.look()
    guard.look()
    (line,) = said
    assert "the agent has ended unexpectedly" in line


def test_a_thread_that_breaks_leaves_its_traceback_in_the_log(
    caplog: pytest.LogCaptureFixture, capsys: pytest.CaptureFixture[str]
) -> None:
    before = threading.excepthook
    with threads_end_in_the_log(), caplog.at_level(logging.ERROR):
        thread = threading.Thread(
            target=dict[str, str]().__getitem__, args=("nothing",), name="paramedic-agent"
        )
        thread.start()
        thread.join()
    assert threading.excepthook is before
    assert "paramedic-agent has ended by an error" in caplog.text
    assert "KeyError" in caplog.text
    assert capsys.readouterr().err == ""
