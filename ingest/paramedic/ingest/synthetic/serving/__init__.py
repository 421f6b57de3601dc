"""The pages of all nodes over HTTP, from one process."""
