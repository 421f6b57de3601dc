"""Remediation: from a verdict to a job that runs again."""
