"""A frozen analysis meets new people: are they like the first, does the policy hold there?"""
