"""From features to a treatment policy: learning, its worth, and its reasons."""
