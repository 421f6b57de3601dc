"""Episodes: stretches of many different synthetic jobs, healthy or with faults, as arrays."""
