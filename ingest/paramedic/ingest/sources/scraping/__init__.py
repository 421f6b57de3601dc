"""Asks exporters for their pages, hundreds of them once a second from one thread."""
