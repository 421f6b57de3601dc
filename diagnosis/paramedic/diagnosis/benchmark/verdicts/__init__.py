"""The whole product on trial: episodes are fed as `replay` feeds them, and verdicts are scored."""
