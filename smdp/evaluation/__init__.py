"""What a policy is worth: probabilities of treatment, estimators, placebo, trial effects."""
