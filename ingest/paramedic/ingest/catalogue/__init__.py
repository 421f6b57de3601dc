"""The metric catalogue: canonical ids, and what every exporter calls them."""
