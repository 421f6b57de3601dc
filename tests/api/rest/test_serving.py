"""The real server on a free port, and Prometheus' own tool on its page."""

from __future__ import annotations

import shutil
import socket
import subprocess
import threading
from typing import Any

import httpx
import pytest
from fastapi import FastAPI

from paramedic.api.rest.errors import ApiAddressError, ApiStartError
from paramedic.api.rest.loopback import address_of, loopback_socket
from paramedic.api.rest.serving import ServeConfig, serving

pytestmark = pytest.mark.connected


@pytest.fixture
def free() -> ServeConfig:
    return ServeConfig(port=0, graceful_seconds=1.0)


def test_it_answers_with_the_very_bytes_of_the_topic(
    app: FastAPI, scene: Any, free: ServeConfig
) -> None:
    with serving(free, app) as server:
        response = httpx.get(f"{server.address}/v1/verdicts/V1")
    assert response.content == scene.documents["V1"]


def test_the_port_is_free_again_after_the_end(app: FastAPI, free: ServeConfig) -> None:
    with serving(free, app) as server:
        address = server.address
        assert server.is_alive()
    assert not server.is_alive()
    with pytest.raises(httpx.ConnectError):
        httpx.get(f"{address}/healthz")


def test_a_socket_of_the_supervisor_outlives_the_server(app: FastAPI, free: ServeConfig) -> None:
    with loopback_socket("127.0.0.1", 0) as listener:
        for _ in range(2):
            config = ServeConfig(listen_fd=socket.dup(listener.fileno()))
            with serving(config, app) as server:
                assert server.address == address_of(listener)
                assert httpx.get(f"{server.address}/healthz").status_code == 200


def test_it_serves_until_it_is_told_to_stop(app: FastAPI, free: ServeConfig) -> None:
    stop = threading.Event()
    with serving(free, app) as server:
        thread = threading.Thread(target=server.wait_for, args=(stop,))
        thread.start()
        assert httpx.get(f"{server.address}/v1/jobs", timeout=10).status_code == 200
        assert thread.is_alive()
        stop.set()
        thread.join(10)
    assert not thread.is_alive()


def test_a_server_that_ends_by_itself_is_not_waited_for(app: FastAPI, free: ServeConfig) -> None:
    with serving(free, app) as server:
        server.stop()
        with pytest.raises(ApiStartError, match="the server ended; the log says why"):
            server.wait_for(threading.Event())


def test_an_open_address_is_refused(app: FastAPI) -> None:
    everywhere = ServeConfig(host="0.0.0.0", port=0)
    with pytest.raises(ApiAddressError, match="other machines"), serving(everywhere, app):
        pytest.fail("it is served")


def test_prometheus_finds_nothing_to_blame_in_the_metrics(app: FastAPI, free: ServeConfig) -> None:
    promtool = shutil.which("promtool")
    if promtool is None:
        pytest.skip("promtool is not installed (Debian package prometheus)")
    with serving(free, app) as server:
        page = httpx.get(f"{server.address}/metrics").content
    checked = subprocess.run(
        [promtool, "check", "metrics"], input=page, capture_output=True, timeout=20, check=False
    )
    assert (checked.returncode, checked.stdout + checked.stderr) == (0, b"")
