"""What holds for every test."""

from __future__ import annotations

from hypothesis import settings

# How long one example takes says more about the machine, and about what is imported late.
settings.register_profile("unhurried", deadline=None)
settings.load_profile("unhurried")
