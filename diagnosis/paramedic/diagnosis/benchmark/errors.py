"""What can keep a benchmark from running."""

from __future__ import annotations


class BenchmarkError(Exception):
    """Base of what the benchmark refuses.

    BenchmarkError
    ├── UnknownDetectorError   a detector was asked for that there is not
    ├── ResultsError           the results folder holds another run, or cannot be read or written
    ├── TruthError             what was broken in a recording is not told, or cannot be read
    └── WorkerLostError        a worker process was ended from outside; what it had done is kept
    """


class UnknownDetectorError(BenchmarkError):
    """A detector was asked for that there is not."""


class ResultsError(BenchmarkError):
    """The results folder belongs to another run, or its files cannot be read or written."""


class TruthError(BenchmarkError):
    """A recording has no truth beside it, or one that cannot be read."""


class WorkerLostError(BenchmarkError):
    """A worker process was ended from outside, by a lack of memory for instance."""
