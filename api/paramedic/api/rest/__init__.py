"""The REST API: read-only, over what remediation has stored."""
