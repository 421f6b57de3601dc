"""What can keep the API from being served."""

from __future__ import annotations


class ApiError(Exception):
    """Base of what can go wrong with serving.

    ApiError
    ├── ApiAddressError     stop: this address can never be served as it is set
    └── ApiStartError       the server did not come up, or ended by itself
    """


class ApiAddressError(ApiError):
    """The address is refused or cannot be bound; a person has to change it."""


class ApiStartError(ApiError):
    """The server did not come up, or ended by itself; its log says why."""
