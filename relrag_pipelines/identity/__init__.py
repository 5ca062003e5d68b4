"""Who people are, across channels."""
