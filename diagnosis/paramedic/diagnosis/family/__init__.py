"""Names what is wrong with a machine that has been accused, how grave it is, and what to do."""
