"""Wiring: chooses bus, launcher and sockets and starts the parts; only it knows them all."""
