"""Permutation tests of independence within levels of the action: arrays in, results out.

`distance_covariance` and `likelihood_ratio` each test at one time; `over_time` tests many variables
at many times and pools; `permutation`, `pair_products` and `pooling` are what they share.
"""
