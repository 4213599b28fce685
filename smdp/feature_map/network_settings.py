"""The settings that all maps by sparse networks share."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from smdp.settings import Settings, setting


@dataclass(frozen=True)
class NetworkSettings(Settings):
    """How sparse networks are tuned, trained and refitted.

    `interpretable`: phi(s) = activation(W s + b), one layer; otherwise phi has `depths` hidden
    layers too. `dimensions`: the candidates for the number of features. `widths` (K1), `depths`
    (K2; hidden layers on each side) and `penalties` (lambda): chosen by cross-validation over
    `folds` of subjects; no width means 20, or 40 for more than 8 variables. `steps`, `batch` (rows
    for each action), `learning_rate`, `weight_decay`: of selection; `polish_steps`: on all rows,
    for exact zeros, columns under `weak_columns` times the largest norm being penalised harder;
    `refit_steps`, `restarts`, `refit_weight_decays` (by cross-validation: the noisier the study,
    the larger): of the unpenalised refit on the selected variables, which is the map that is used.
    """

    interpretable: bool = setting(
        True,
        "Interpretable: one layer",
        help="Each feature is a weighted sum of the variables, bent by the arctangent: its weights "
        "can be read. Not ticked: a deeper map, which can need fewer features.",
        control="checkbox",
    )
    dimensions: tuple[int, ...] | None = setting(
        None, "Candidates for the dimension", symbol="q", least=1, ordered=True, page=False
    )
    widths: tuple[int, ...] | None = setting(
        None, "Widths of hidden layers", symbol="K1", least=1, ordered=True, page=False
    )
    depths: tuple[int, ...] = setting(
        (1,), "Numbers of hidden layers", symbol="K2", least=1, ordered=True, page=False
    )
    penalties: tuple[float, ...] = setting(
        (0.02, 0.05, 0.1, 0.2), "Penalties", symbol="lambda", least=0, ordered=True, page=False
    )
    folds: int = setting(5, "Folds of subjects", least=2, page=False)
    activation: Literal["arctan", "tanh", "relu"] = setting("arctan", "Activation", page=False)
    steps: int = setting(1000, "Training steps", least=1, page=False)
    batch: int = setting(64, "Rows of each action in a step", least=1, page=False)
    learning_rate: float = setting(0.01, "Learning rate", above=0, page=False)
    weight_decay: float = setting(0.3, "Weight decay", least=0, page=False)
    polish_steps: int = setting(200, "Steps on all rows", least=0, page=False)
    weak_columns: float = setting(
        0.025, "Weak columns", what="a share", least=0, below=1, page=False
    )
    refit_steps: int = setting(1500, "Steps of the refit", least=1, page=False)
    refit_weight_decays: tuple[float, ...] = setting(
        (0.01, 0.1, 1.0), "Weight decays of the refit", least=0, ordered=True, page=False
    )
    restarts: int = setting(5, "Starts of the refit", least=1, page=False)

    @property
    def turns(self) -> Literal["joint", "alternating"]:
        """Whether the networks of all actions move in one step, or one after the other."""
        return "joint"
