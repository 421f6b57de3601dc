"""The broker's side of SASL: PLAIN and SCRAM, with the passwords that a test gives."""

from __future__ import annotations

import base64
import hashlib
import hmac
import os
from collections.abc import Mapping
from typing import Any

from kafka.protocol.sasl import (
    SaslAuthenticateRequest,
    SaslAuthenticateResponse,
    SaslHandshakeRequest,
    SaslHandshakeResponse,
)

UNSUPPORTED_MECHANISM = 33
AUTHENTICATION_FAILED = 58
_ITERATIONS = 4096
_HASHES = {"SCRAM-SHA-256": "sha256", "SCRAM-SHA-512": "sha512"}
SASL_REQUESTS = {SaslHandshakeRequest: 1, SaslAuthenticateRequest: 0}


class SaslServer:
    """One connection: it is let in once it has shown a password."""

    def __init__(self, passwords: Mapping[str, str]) -> None:
        self._passwords = passwords
        self._mechanism = ""
        self._messages: list[str] = []
        self.is_authenticated = False

    def answer(self, request: Any) -> Any:
        """The response to one of the two requests of SASL."""
        if request.API_KEY == SaslHandshakeRequest.API_KEY:
            self._mechanism = request.mechanism
            known = request.mechanism in {"PLAIN", *_HASHES}
            code = 0 if known else UNSUPPORTED_MECHANISM
            return SaslHandshakeResponse(error_code=code, mechanisms=["PLAIN", *_HASHES])
        data = bytes(request.auth_bytes)
        reply = self._plain(data) if self._mechanism == "PLAIN" else self._scram(data.decode())
        code = AUTHENTICATION_FAILED if reply is None else 0
        message = "the password is wrong" if reply is None else None
        return SaslAuthenticateResponse(
            error_code=code, error_message=message, auth_bytes=reply or b"", session_lifetime_ms=0
        )

    def _plain(self, data: bytes) -> bytes | None:
        _, user, password = data.decode().split("\0")
        self.is_authenticated = self._passwords.get(user) == password
        return b"" if self.is_authenticated else None

    def _scram(self, message: str) -> bytes | None:
        """RFC 5802; the channel is not bound."""
        if not self._messages:
            bare = message.partition(",,")[2]
            nonce = _fields(bare)["r"] + "server"
            salt = base64.b64encode(os.urandom(12)).decode()
            self._messages = [bare, f"r={nonce},s={salt},i={_ITERATIONS}"]
            return self._messages[1].encode()
        without_proof, _, proof = message.rpartition(",p=")
        return self._final(",".join((*self._messages, without_proof)).encode(), proof)

    def _final(self, conversation: bytes, proof: str) -> bytes | None:
        user = _fields(self._messages[0])["n"]
        salt = base64.b64decode(_fields(self._messages[1])["s"])
        name = _HASHES[self._mechanism]
        password = self._passwords.get(user, "").encode()
        salted = hashlib.pbkdf2_hmac(name, password, salt, _ITERATIONS)
        client_key = hmac.digest(salted, b"Client Key", name)
        signature = hmac.digest(hashlib.new(name, client_key).digest(), conversation, name)
        shown = bytes(a ^ b for a, b in zip(base64.b64decode(proof), signature, strict=True))
        self.is_authenticated = shown == client_key
        if not self.is_authenticated:
            return None
        verifier = hmac.digest(hmac.digest(salted, b"Server Key", name), conversation, name)
        return b"v=" + base64.b64encode(verifier)


def _fields(message: str) -> dict[str, str]:
    return dict(part.split("=", 1) for part in message.split(","))
