"""Alternating deep neural networks (Algorithm 2): the kind of map that the paper proposes."""
