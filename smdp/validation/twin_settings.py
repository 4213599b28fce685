"""The settings of twins: how they are fitted, and what is repeated on them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from smdp.settings import Settings, setting


@dataclass(frozen=True)
class TwinSettings(Settings):
    """How many studies are drawn from a twin, and how much of the analysis is done on each.

    Each repetition is one study in which what was learned is planted, and one in which the outcome
    depends on nothing, for screening alone; with `repeated` = "value" also one without any gain.
    `features`: the map's features stand beside its variables in the twin's regressions.
    """

    repetitions: int = setting(
        20,
        "Studies to draw",
        help="Of each kind. With 20, a share is known to within about 20 percentage points; with "
        "100, to within 10.",
        least=2,
        given=(5, 500),
    )
    repeated: Literal["screening", "policy", "value"] = setting(
        "policy",
        "What is repeated",
        help="Screening alone takes seconds a study. With features and policy, the gain that the "
        "policy really has in the twin is known too. With the value, also how often its interval "
        "shows a gain, where there is one and where there is none: that takes about twelve times "
        "as long as the analysis itself, for each study.",
        choices={
            "screening": "Screening",
            "policy": "Screening, features and policy",
            "value": "All that, and the value of the policy",
        },
        control="radio",
    )
    features: bool = setting(
        True,
        "The map's features beside its variables",
        help="Then the outcome may depend on the combinations of variables that the map found.",
        more=True,
    )
