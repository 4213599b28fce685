"""A learned policy as files that other programs read."""
