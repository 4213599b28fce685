"""From features to a treatment policy: how it is learned, and what it recommends."""
