"""The rules by which new data are judged, fixed before they are seen."""

from __future__ import annotations

from dataclasses import dataclass

from smdp.settings import Settings, setting


@dataclass(frozen=True)
class NewDataSettings(Settings):
    """When a policy is withdrawn, refitted or kept on new data.

    *Withdraw* if the frozen policy earns clearly less there than what was done: the upper limit of
    its gain, one-sided at `withdraw_level`, is below 0. Else *refit* if people moved, or the map no
    longer suffices, or what was predicted and what is observed differ clearly: `refit_level` is
    shared equally among these three. Else *keep* if the policy is not clearly worth less than what
    was done by more than `margin`. Else nobody can tell yet.

    `least_share`: a map no longer suffices if its test rejects and the share that it keeps of what
    the full state says of the outcome is clearly below this. `folds`: of the new people, for the
    heads of the map and for the models of the value; the policy itself knows nobody of them.
    """

    withdraw_level: float = setting(
        0.05,
        "Level at which a policy is withdrawn",
        help="How often, at most, a policy that is as good as what was done may be withdrawn by "
        "chance.",
        what="a level",
        above=0,
        below=0.5,
        given=(0.005, 0.2),
        step=0.005,
    )
    refit_level: float = setting(
        0.05,
        "Level at which a refit is asked for",
        help="How often, at most, a refit may be asked for although nothing has changed. It is "
        "shared among the reasons for a refit.",
        what="a level",
        above=0,
        below=0.5,
        given=(0.005, 0.2),
        step=0.005,
    )
    margin: float = setting(
        0.25,
        "Margin for keeping",
        help="A policy is kept only if it is surely not worse than what was done by more than "
        "this many standard deviations of the outcome.",
        what="a number of standard deviations",
        least=0,
        most=5,
        given=(0.0, 1.0),
        step=0.05,
    )
    least_share: float = setting(
        0.90,
        "Least share kept by the map",
        help="Of what the full state says of the outcome. A map that surely keeps less on new "
        "people no longer suffices.",
        what="a share",
        above=0,
        most=1,
        given=(0.5, 1.0),
        step=0.05,
        more=True,
    )
    same_units: bool = setting(
        False,
        "Units are the same for sure",
        help="Where a variable that a policy uses looks as if it were in another unit, nothing is "
        "judged. Tick this where its numbers are right all the same.",
        more=True,
    )
    draws: int = setting(
        999,
        "Draws for the tests",
        symbol="B",
        help="Permutations of people between the two tables, and patterns of their signs.",
        least=99,
        given=(99, 9999),
        more=True,
    )
    folds: int = setting(
        5,
        "Folds of people",
        help="For models of the new people that stand beside the policy. The policy itself knows "
        "nobody of them.",
        least=2,
        given=(2, 20),
        more=True,
    )
    bootstraps: int = setting(
        200,
        "Resamples of people",
        help="How many times people are drawn anew, with replacement, for the intervals of the "
        "value.",
        least=20,
        given=(20, 5000),
        more=True,
    )
    coverage: float = setting(
        0.95,
        "Confidence level of the intervals",
        help="Of intervals made this way, so many would cover the true value.",
        what="a share",
        least=0.5,
        below=1,
        choices={0.80: "80 %", 0.90: "90 %", 0.95: "95 %", 0.99: "99 %"},
        control="select",
        more=True,
    )
