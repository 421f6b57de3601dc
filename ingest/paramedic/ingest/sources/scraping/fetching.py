"""One exporter's page over HTTP, whatever its size and form, or the reason why there is none."""

from __future__ import annotations

import os
import ssl
from collections.abc import Mapping

import aiohttp

from paramedic.ingest.sources.port import SourceAwayError

_PIECE_BYTES = 64 * 1024
_REMEDIES = {401: "give a token or a password", 403: "the token or password is not allowed in"}
_ACCEPT = "text/plain;version=0.0.4,*/*;q=0.1"


async def fetch_page(
    session: aiohttp.ClientSession, url: str, headers: Mapping[str, str], limit_bytes: int
) -> bytes:
    """The page. Raises SourceAwayError with a reason for people."""
    try:
        async with session.get(url, headers={"Accept": _ACCEPT, **headers}) as response:
            if response.status != 200:
                remedy = _REMEDIES.get(response.status, response.reason or "")
                raise SourceAwayError(f"{url} answers with HTTP {response.status}: {remedy}")
            return await _read(response, url, limit_bytes)
    except TimeoutError as error:
        raise SourceAwayError(f"{url} did not answer in {session.timeout.total:g} s") from error
    except (aiohttp.ClientError, OSError, ValueError) as error:
        raise SourceAwayError(f"{url}: {_reason(error)}") from error


async def _read(response: aiohttp.ClientResponse, url: str, limit_bytes: int) -> bytes:
    """Bounded after decompression, so that a small answer cannot become a large page."""
    page = bytearray()
    async for piece in response.content.iter_chunked(_PIECE_BYTES):
        page += piece
        if len(page) > limit_bytes:
            raise SourceAwayError(f"{url}: above page_limit_bytes, {limit_bytes}")
    return bytes(page)


def _reason(error: Exception) -> str:
    """`Connection refused` rather than the library's words around it."""
    cause = error.os_error if isinstance(error, aiohttp.ClientConnectorError) else error
    number = cause.errno if isinstance(cause, OSError) else None
    if number is not None and number > 0 and not isinstance(cause, ssl.SSLError):
        return os.strerror(number)
    return str(error) or type(error).__name__
