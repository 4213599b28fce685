"""How firmly a recommendation stands, in words."""

from __future__ import annotations

from smdp.explanation.standing import Standing
from smdp.text import capital, listing


def reserve(standing: Standing, policy: str) -> str:
    """Why a recommendation is given with reserve; "" where it stands firm, or there is none.

    `policy`: what it is called, such as 'linear'.
    """
    if standing.firmness != "weak":
        return ""
    reasons = []
    if standing.gain == "worse":
        reasons.append(f"the {policy} policy does worse than what was done in the study")
    elif standing.gain == "not clear":
        reasons.append(
            f"the study does not tell whether the {policy} policy does better than what was done"
        )
    elif standing.gain == "no interval":
        reasons.append(f"what the {policy} policy would earn has no interval that can be trusted")
    elif standing.gain == "not estimated":
        reasons.append(f"what the {policy} policy would earn was not estimated (page Policy)")
    if standing.quick and standing.gain == "better":
        reasons.append(
            f"what the {policy} policy would earn was judged the quick way, which is too optimistic"
        )
    if standing.chance == "observed":
        reasons.append(
            "treatment was not known to be randomised, and nobody has said on the page Data that "
            "nothing unmeasured decided who was treated"
        )
    if standing.deciding:
        names = listing([f"'{name}'" for name in standing.deciding])
        which = "with another value" if len(standing.deciding) == 1 else "with other values"
        reasons.append(f"{names} was not reported but filled in, and {which} it would be another")
    if standing.outside:
        names = listing([f"'{name}'" for name in standing.outside])
        reasons.append(f"{names} lies outside what was seen in the study")
    if standing.in_doubt and not reasons:
        return ""  # the headline says so
    return f"With reserve: {'; '.join(reasons)}."


def footing(standing: Standing, policy: str) -> str:
    """What a recommendation that stands firm rests on; "" for others."""
    if standing.firmness != "firm":
        return ""
    chance = (
        "treatment was randomised"
        if standing.chance == "randomised"
        else "by your account nothing unmeasured decided who was treated"
    )
    return capital(
        f"the {policy} policy does better than what was done in the study, {chance}, and no value "
        "that decides was filled in."
    )
