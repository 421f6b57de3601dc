"""Only loopback addresses are served until API keys exist."""

from __future__ import annotations

import socket
from pathlib import Path

import pytest

from paramedic.api.rest.errors import ApiAddressError
from paramedic.api.rest.loopback import (
    address_of,
    inherited_socket,
    loopback_socket,
    require_listening,
    require_loopback,
)


@pytest.mark.parametrize("host", ["127.0.0.1", "127.8.9.10", "::1", "localhost"])
def test_this_machine_is_allowed(host: str) -> None:
    require_loopback(host)


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.168.1.4", "example.org", ""])
def test_everything_else_is_refused_with_a_remedy(host: str) -> None:
    with pytest.raises(ApiAddressError, match=r"API keys do not exist yet: use 127\.0\.0\.1"):
        require_loopback(host)


def test_a_free_port_is_chosen_and_told() -> None:
    with loopback_socket("127.0.0.1", 0) as listener:
        port = listener.getsockname()[1]
        assert address_of(listener) == f"http://127.0.0.1:{port}"


def test_a_port_in_use_is_one_clear_line() -> None:
    with loopback_socket("127.0.0.1", 0) as listener:
        port = listener.getsockname()[1]
        with pytest.raises(ApiAddressError, match=f"port {port} on 127.0.0.1 cannot be used"):
            loopback_socket("127.0.0.1", port)


def test_an_inherited_listener_is_taken_over() -> None:
    with loopback_socket("127.0.0.1", 0) as listener:
        inherited = inherited_socket(socket.dup(listener.fileno()))
        assert inherited.getsockname() == listener.getsockname()
        inherited.close()


def test_a_descriptor_that_is_no_socket_is_refused(tmp_path: Path) -> None:
    with (
        (tmp_path / "file").open("w") as file,
        pytest.raises(ApiAddressError, match="is no socket"),
    ):
        inherited_socket(file.fileno())


def test_a_socket_that_every_machine_can_reach_is_refused_and_left_open() -> None:
    with socket.create_server(("", 0)) as listener:
        with pytest.raises(ApiAddressError, match="other machines"):
            inherited_socket(listener.fileno())
        assert listener.getsockname()[1] > 0


def test_a_socket_that_does_not_listen_is_refused() -> None:
    with socket.socket() as unbound:
        unbound.bind(("127.0.0.1", 0))
        with pytest.raises(ApiAddressError, match="does not listen"):
            require_listening(unbound)
    left, right = socket.socketpair()
    with left, right, pytest.raises(ApiAddressError, match="not TCP"):
        require_listening(left)
