"""From screened variables to a low-dimensional feature map (Algorithm 2, Corollary 3.3)."""
