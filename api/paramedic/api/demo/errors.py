"""What can keep the demo from showing anything."""

from __future__ import annotations


class DemoError(Exception):
    """Base of what keeps the demo from running; exit code 2.

    DemoError
    ├── DemoRequestError    flags that cannot be combined, or no training script
    └── DemoRunError        the reference run or the watched run broke before the fault
    """


class DemoRequestError(DemoError):
    """Flags that cannot be combined, or no training script."""


class DemoRunError(DemoError):
    """The reference run, or the watched run before the fault, broke by itself."""
