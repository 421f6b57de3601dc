"""How far rows of one kind have departed from their peers, metric by metric."""
