"""The settings of estimating what a policy would earn."""

from __future__ import annotations

from dataclasses import dataclass

from smdp.settings import Settings, setting


@dataclass(frozen=True)
class EvaluationSettings(Settings):
    """The value of a policy pi from the trial in which it was not followed.

    V = (1 - gamma) E_pi{sum over t >= 1 of gamma^(t-1) U^t}, from the states in which the subjects
    of the trial started: mean utility a decision, with later decisions counting less.

    `discount`: gamma; None takes the learned policy's own, or 0.9 for any other policy.
    `variables`: the state variables that the value is modelled with; None takes those that a
    learned policy uses, for any other policy all that the trajectories have. Together they should
    predict utility and next state, and be few. `moved`: unless they are named, variables that
    treatment moves join them (`smdp.evaluation.what_treatment_moves`). `folds`: of subjects; nobody
    is judged by what was learned from the same person. `bootstraps`: samples of subjects;
    `coverage`: of the intervals. `weight_limit`: density ratios of states are clipped here.
    `least_effective`: with a smaller effective number of subjects no interval is shown. `rare`: a
    probability of treatment below this counts as a lack of positivity. `refit_map`: a learned
    policy's feature map is fitted anew in each fold too, with its variables and dimension as they
    are. `segments`: of each variable's piecewise linear effect, fewer if there are many variables.

    Reference: Kallus & Uehara (2020), "Double reinforcement learning for efficient off-policy
    evaluation in Markov decision processes"; Liu, Li, Tang & Zhou (2018), "Breaking the curse of
    horizon"; Liao, Klasnja & Murphy (2021), "Off-policy estimation of long-term average outcomes
    with applications to mobile health".
    """

    discount: float | None = setting(
        None,
        "Discount",
        symbol="gamma",
        least=0,
        below=1,
        empty="that of the policy",
        page=False,
    )
    variables: tuple[str, ...] | None = setting(
        None,
        "Variables that the value is modelled with",
        what="variables",
        empty="those of the policy",
        page=False,
    )
    moved: bool = setting(True, "Model what treatment moves, too", page=False)
    folds: int = setting(
        5,
        "Folds of subjects",
        help="Nobody is judged by what was learned from the same person: the policy is learned "
        "anew without each fold, and judged on it.",
        least=2,
        given=(2, 20),
    )
    bootstraps: int = setting(
        200,
        "Resamples of subjects",
        symbol="B",
        help="How many times people are drawn anew, with replacement, for the intervals.",
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
    weight_limit: float = setting(20.0, "Limit of the weights", least=1, page=False)
    least_effective: float = setting(
        10.0, "Least effective number of subjects for an interval", least=2, page=False
    )
    rare: float = setting(
        0.05,
        "Rare probability of treatment",
        what="a probability",
        least=0,
        below=0.5,
        page=False,
    )
    refit_map: bool = setting(
        True,
        "Refit the map too",
        help="In each fold the feature map is fitted anew as well. Stricter, because the map has "
        "not seen the people judged either; takes longer. The variables and the dimension stay as "
        "they are. Not ticked: only the Q-function is learned anew.",
    )
    segments: int = setting(10, "Segments of a variable's effect", least=1, page=False)
