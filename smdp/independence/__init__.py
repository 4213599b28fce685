"""Tests of independence: arrays in, results out.

With people as the sample: `by_person` tests variables within strata of the last actions,
`given_others` once other variables are known; both make a score for each person, and `signs` turns
scores into p-values. As in the paper, by permutations within levels of the action:
`distance_covariance` and `likelihood_ratio` each test at one time; `over_time` tests many variables
at many times and pools; `permutation`, `pair_products` and `pooling` are what they share.
"""
