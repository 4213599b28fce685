"""Is the state Markov, and is the process the same throughout the study?"""
