"""Model files that are checked before they are used, and which of them is in production."""
