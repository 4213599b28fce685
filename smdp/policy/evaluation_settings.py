"""The settings of estimating what a policy would earn."""

from __future__ import annotations

from dataclasses import dataclass

from smdp.settings import require


@dataclass(frozen=True)
class EvaluationSettings:
    """The value of a policy pi from the trial in which it was not followed.

    V = (1 - gamma) E_pi{sum over t >= 1 of gamma^(t-1) U^t}, from the states in which the subjects
    of the trial started: mean utility a decision, with later decisions counting less.

    `discount`: gamma; None takes the learned policy's own, or 0.9 for any other policy.
    `variables`: the state variables that the value is modelled with; None takes those that a
    learned policy uses, for any other policy all that the trajectories have. Together they should
    predict utility and next state, and be few. `folds`: of subjects; nobody is judged by what was
    learned from the same person. `bootstraps`: samples of subjects; `coverage`: of the intervals.
    `weight_limit`: density ratios of states are clipped here. `least_effective`: with a smaller
    effective number of subjects no interval is shown. `rare`: a probability of treatment below this
    counts as a lack of positivity. `refit_map`: a learned policy's feature map is fitted anew in
    each fold too, with its variables and dimension as they are. `segments`: of each variable's
    piecewise linear effect, fewer if there are many variables.

    Reference: Kallus & Uehara (2020), "Double reinforcement learning for efficient off-policy
    evaluation in Markov decision processes"; Liu, Li, Tang & Zhou (2018), "Breaking the curse of
    horizon"; Liao, Klasnja & Murphy (2021), "Off-policy estimation of long-term average outcomes
    with applications to mobile health".
    """

    discount: float | None = None
    variables: tuple[str, ...] | None = None
    folds: int = 5
    bootstraps: int = 200
    coverage: float = 0.95
    weight_limit: float = 20.0
    least_effective: float = 10.0
    rare: float = 0.05
    refit_map: bool = True
    segments: int = 10

    def __post_init__(self) -> None:
        for name, low, high, must in (
            ("discount", 0.0, 1.0, "a number of at least 0, below 1"),
            ("rare", 0.0, 0.5, "a probability of at least 0, below 0.5"),
            ("weight_limit", 1.0, float("inf"), "a number of at least 1"),
            ("least_effective", 2.0, float("inf"), "a number of at least 2"),
            ("coverage", 0.5, 1.0, "a share of at least 0.5, below 1"),
        ):
            value = getattr(self, name)
            if value is None and name == "discount":
                continue
            number = isinstance(value, int | float) and not isinstance(value, bool)
            require(number and low <= value < high, name, must, value)
        for name, least in (("folds", 2), ("bootstraps", 20), ("segments", 1)):
            value = getattr(self, name)
            whole = isinstance(value, int) and not isinstance(value, bool) and value >= least
            require(whole, name, f"a whole number of at least {least}", value)
        require(isinstance(self.refit_map, bool), "refit_map", "True or False", self.refit_map)
        if self.variables is not None:
            named = not isinstance(self.variables, str)
            require(named, "variables", "a list of variables", self.variables)
            object.__setattr__(self, "variables", tuple(self.variables))
