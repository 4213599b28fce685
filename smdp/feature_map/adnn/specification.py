"""What is to be trained, and how."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from smdp.text import listing


@dataclass(frozen=True)
class ModelSpec:
    """One network among the many that are trained at once."""

    dataset: int  # which training set
    dimension: int  # q, the number of features
    width: int  # units in each hidden layer
    depth: int  # hidden layers in the heads, and in the map unless it is interpretable
    penalty: float = 0.0
    restart: int = 0
    inputs: tuple[int, ...] | None = None  # the columns that may be used; all by default
    weight_decay: float = 0.0

    @property
    def key(self) -> tuple[int, ...]:
        """Which random start it has: the same for all penalties, so that they can be compared.

        And for all weight decays.
        """
        return (self.dataset, self.dimension, self.width, self.depth, self.restart)

    def __str__(self) -> str:
        return (
            f"dimension {self.dimension}, width {self.width}, depth {self.depth}, "
            f"penalty {self.penalty:g}, fold {self.dataset + 1}"
        )


@dataclass(frozen=True)
class HowToTrain:
    """What the networks of a batch share.

    `penalised`: proximal steps on the first layer, with one step size for each network. Otherwise
    penalties are ignored, and every weight has a step size of its own.
    """

    interpretable: bool
    activation: str
    steps: int
    batch: int | None  # rows for each action at each step; None: all
    learning_rate: float
    penalised: bool
    updates: Literal["joint", "alternating"] = "joint"
    harder_below: float = 0.0  # columns under this share of the largest norm ..
    harder: float = 1.0  # .. have their penalty multiplied by this


def failures(specs: list[ModelSpec], activation: str) -> str:
    """What to say about candidates whose training did not stay finite."""
    relu = " (relu is unbounded: try arctan)" if activation == "relu" else ""
    return (
        f"The loss of {len(specs)} candidates became infinite, and they were left out: "
        f"{listing(specs, 3)}. The likely cause is a learning rate that is too large for values "
        f"far from the rest{relu}; lower the setting 'learning_rate', or look for outliers."
    )
