"""What the watched run needs is looked for before the reference run takes its minutes."""

from __future__ import annotations

import socket
from dataclasses import replace
from pathlib import Path

import pytest

from api.demo.test_demo_request import request
from paramedic.api.demo.demo import require_a_run
from paramedic.api.rest.errors import ApiAddressError
from paramedic.api.settings.schema import Settings
from paramedic.api.wiring.errors import PreflightError
from paramedic.api.wiring.run_folder import RECORD_FILE

PLAIN = Settings()
ANY_PORT = replace(PLAIN, api=replace(PLAIN.api, port=0))


def test_a_run_folder_is_made_and_one_that_cannot_be_or_is_used_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    for folder, words in (("file", "cannot be written"), ("file/run", "cannot be written")):
        asked = request(folder=tmp_path, run_folder=Path(folder), settings=ANY_PORT)
        with pytest.raises(PreflightError, match=words):
            require_a_run(asked)
    asked = request(folder=tmp_path, run_folder=Path("new"), settings=ANY_PORT)
    require_a_run(asked)
    (tmp_path / "new" / RECORD_FILE).write_text("{}")
    with pytest.raises(PreflightError, match="already holds a run"):
        require_a_run(asked)


def test_a_port_and_a_bus_that_cannot_be_had_are_refused() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        busy = replace(PLAIN, api=replace(PLAIN.api, port=taken.getsockname()[1]))
        with pytest.raises(ApiAddressError, match="cannot be used"):
            require_a_run(request(settings=busy))
    foreign = replace(ANY_PORT, bus=replace(ANY_PORT.bus, address="unix:/tmp/b.sock"))
    with pytest.raises(PreflightError, match="belongs to another run"):
        require_a_run(request(settings=foreign))
