"""Jobs' pasts for training and comparing: read from recordings, cut into stretches."""
