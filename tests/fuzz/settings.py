"""How many cases: the ordinary number, or more by `make fuzz`."""

import os

ORDINARY = 2_000
CASES = int(os.environ.get("SMDP_FUZZ_CASES", ORDINARY))
SEED = int(os.environ.get("SMDP_FUZZ_SEED", 1))
#: Of each test of generated input.
EXAMPLES = max(10, CASES // 20)
