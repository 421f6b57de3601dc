"""The database of remediation: every table, and small typed doors to each."""
