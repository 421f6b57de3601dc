"""The Prometheus API through prometheus-api-client, with its troubles sorted by what helps."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from typing import Any, Protocol

from prometheus_api_client import PrometheusConnect
from prometheus_api_client.exceptions import PrometheusApiClientException
from requests import PreparedRequest, Session
from requests.adapters import Retry
from requests.exceptions import ReadTimeout, RequestException

from paramedic.ingest.sources.access import HttpAccess
from paramedic.ingest.sources.port import SourceAwayError, SourceError
from paramedic.ingest.sources.prometheus.configuration import PrometheusSettings

Entry = Mapping[str, Any]
"""One series of an answer: `metric` with its labels, `value` or `values` with times and texts."""

_STATUS_AND_BODY = re.compile(r"HTTP Status Code (\d+) \(b?(['\"])(.*)\2\)", re.DOTALL)
_TOO_LARGE = re.compile("too many|exceed|limit|timed out|too large|max", re.IGNORECASE)


class QueryError(SourceError):
    """The server refuses the query or us, and will again; a person has to change something."""


class AnswerTooLargeError(Exception):
    """The query asks for more than the server gives at once, or in time: ask for less."""


class QueryApi(Protocol):
    """What is asked of a Prometheus.

    Each raises SourceAwayError (try again), AnswerTooLargeError (ask for less) or QueryError (a
    person has to change something).
    """

    def query(self, expression: str, at_seconds: float | None = None) -> list[Entry]:
        """The answer to an instant query; without a time, as of the server's now."""
        ...

    def now_seconds(self) -> float:
        """The server's clock; a light question, which also tells whether it answers at all."""
        ...

    def scrape_errors(self) -> Mapping[str, str]:
        """Why targets could not be scraped, by instance; empty where the server does not tell."""
        ...

    def close(self) -> None:
        """Let go of the connections."""
        ...


class PrometheusApi:
    """The real one."""

    def __init__(self, settings: PrometheusSettings) -> None:
        self._url = settings.url.rstrip("/")
        session = Session()
        access = settings.access
        session.verify = access.verify if access.ca_file is None else str(access.ca_file)
        if access.certificate_file is not None:
            key = access.key_file or access.certificate_file
            session.cert = (str(access.certificate_file), str(key))
        self._connect = PrometheusConnect(
            url=self._url,
            session=session,
            auth=_in_every_request(access),
            timeout=settings.timeout_seconds,
            retry=Retry(0, read=False),
        )

    def query(self, expression: str, at_seconds: float | None = None) -> list[Entry]:
        """The answer to an instant query."""
        params = {} if at_seconds is None else {"time": f"{at_seconds:.3f}"}
        answer = self._asked(lambda: self._connect.custom_query(expression, params=params))
        if not isinstance(answer, list):
            raise QueryError(f"{self._url}: {expression[:200]}: no list of series: {answer!r:.200}")
        return answer

    def now_seconds(self) -> float:
        """The server's clock."""
        try:
            answer = self.query("vector(time())")
            return float(answer[0]["value"][0])
        except AnswerTooLargeError as error:
            raise SourceAwayError(str(error)) from error
        except (LookupError, TypeError, ValueError) as error:
            raise SourceAwayError(f"{self._url} gives no answer of a Prometheus") from error

    def scrape_errors(self) -> Mapping[str, str]:
        """From `/api/v1/targets`, which Thanos and Mimir do not have."""
        try:
            answer = self._asked(lambda: self._connect.get_targets(state="active"))
            active = answer["activeTargets"]
            return {one["labels"]["instance"]: one["lastError"] for one in active}
        except (QueryError, AnswerTooLargeError, KeyError, TypeError):
            return {}

    def close(self) -> None:
        """Close the session."""
        self._connect.close()

    def _asked(self, ask: Callable[[], Any]) -> Any:
        try:
            return ask()
        except PrometheusApiClientException as error:
            raise sorted_by_remedy(self._url, str(error)) from error
        except ReadTimeout as error:
            raise AnswerTooLargeError(f"{self._url} did not answer in time") from error
        except (KeyError, TypeError, ValueError, RecursionError, RequestException) as error:
            reason = f"{self._url} gives no answer of a Prometheus: {_innermost(error)}"
            raise SourceAwayError(reason) from error


def sorted_by_remedy(url: str, message: str) -> Exception:
    """The error for an answer that is not 200, from the library's message about it."""
    found = _STATUS_AND_BODY.search(message)
    status, reason = (int(found[1]), _reason(found[3])) if found else (0, message)
    told = f"{url} answers with HTTP {status}: {' '.join(reason.split())[:300]}"
    if status in {413, 414} or (status in {400, 422, 503} and _TOO_LARGE.search(reason)):
        return AnswerTooLargeError(told)
    if status in {401, 403}:
        return QueryError(f"{told}: set a token, a password or a tenant that may read")
    if status in {400, 404, 405, 422}:
        return QueryError(f"{told}: check the URL with its path prefix, and matchers")
    return SourceAwayError(told)


def _reason(body: str) -> str:
    """The server's own words; the body as it is where they cannot be found."""
    try:
        return str(json.loads(body.replace("\\'", "'").replace("\\\\", "\\"))["error"])
    except (ValueError, KeyError, TypeError, RecursionError):
        # The library shows the bytes as Python writes them.
        return body.replace("\\r", " ").replace("\\n", " ")


def _in_every_request(access: HttpAccess) -> Callable[[PreparedRequest], PreparedRequest]:
    """As `auth`, so that a file's token is read anew and no .netrc takes its place."""

    def add(request: PreparedRequest) -> PreparedRequest:
        request.headers.update(access.request_headers())
        return request

    return add


def _innermost(error: BaseException) -> str:
    """Without the wrapping that urllib3 and requests put around `Connection refused`."""
    text = str(error)
    found = re.search(r"\[Errno -?\d+\] ([^'\")]+)", text)
    return found[1] if found else text[:300]
