"""The embedded bus: a broker thread in the supervisor and its clients on a Unix stream socket."""
