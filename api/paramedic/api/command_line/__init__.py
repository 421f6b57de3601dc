"""The command line: verbs, their help, and what an error looks like to a person."""
