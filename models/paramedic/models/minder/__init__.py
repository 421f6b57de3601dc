"""Minder as its paper describes it (arXiv 2411.01791), and the variants the paper compares."""
