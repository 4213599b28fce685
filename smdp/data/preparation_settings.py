"""The settings of making a study complete: who is left out, imputation, rescaling."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Literal

from smdp.settings import Settings, setting


@dataclass(frozen=True)
class ImputationSettings(Settings):
    """Local polynomial regression of each subject's variable on time.

    A missing value at time t is the fitted value at t of a weighted least-squares polynomial of the
    given degree, with tricube weights (1 - (d / h)^3)^3 over the nearest `span` of that subject's
    observed points, h being the distance to the farthest of them.

    Reference: Cleveland, Grosse & Shyu (1992), "Local regression models"; R's
    `loess(surface = "direct")`.
    """

    span: float = setting(
        0.75,
        "Neighbourhood",
        symbol="span",
        help="The share of a subject's observations that each imputed value is fitted to. Smaller "
        "follows the ups and downs, larger is smoother.",
        what="a share of points",
        above=0,
        most=10,
        control="slider",
        given=(0.1, 1.5),
        step=0.05,
    )
    degree: Literal[0, 1, 2] = setting(
        1,
        "Degree of the local polynomial",
        help="What is fitted to the neighbourhood of each gap. The same as R's loess.",
        choices={0: "0: local average", 1: "1: local line", 2: "2: local parabola"},
        control="radio",
    )


@dataclass(frozen=True)
class RescalingSettings(Settings):
    """Ordinal rescaling to the levels of one reference variable.

    The reference is divided by its maximum and its unique rescaled values are the levels; every
    other variable is rescaled to [0, 1] by its declared or observed range and moved to the nearest
    level. `reference=None` takes the variable with the most unique values, preferably of those with
    levels from 0 (or nearly) on.

    Reference: Wang, Laber & Witkiewitz, supplement, "How the variables are partitioned".
    """

    reference: str | None = setting(
        None,
        "Reference variable",
        help="Divided by its maximum, its values are the levels that all other variables are "
        "rounded to. Usually the one with the most different values, from 0 or nearly 0 on.",
        control="select",
    )


@dataclass(frozen=True)
class CompletionSettings(Settings):
    """Who is left out, and how missing values are filled in.

    `exclude_above`: subjects with a larger share of missing state values are left out.
    `also_exclude`: subjects left out by hand. `unobserved`: what to do with a subject who has no
    value at all of some variable.
    """

    exclude_above: float = setting(
        0.5,
        "Leave out subjects with more missing than",
        help="The share of a subject's own state values that may be missing. Variables that never "
        "change within a subject do not count.",
        what="a share",
        least=0,
        most=1,
        control="slider",
        percent=True,
    )
    also_exclude: tuple[str, ...] = setting(
        (),
        "Leave out by hand",
        help="For reasons that the data do not show, such as a withdrawn consent.",
        what="subjects",
        control="several",
    )
    unobserved: Literal["refuse", "exclude"] = setting(
        "refuse",
        "Leave out empty series",
        help="A subject who has no value at all of some variable cannot be imputed from her own "
        "series. Ticked: such subjects are left out. Not ticked: you are told who they are.",
        control="checkbox",
    )
    imputation: ImputationSettings = setting(ImputationSettings, factory=True)


@dataclass(frozen=True)
class PreparationSettings(CompletionSettings):
    """From arranged trajectories to complete ones: exclude, impute, rescale.

    `exclude_above`: subjects with a larger share of missing state values are left out.
    `also_exclude`: subjects left out by hand. `unobserved`: what to do with a subject who has no
    value at all of some variable. `rescaling=None` leaves the variables in their own units.
    """

    rescaling: RescalingSettings | None = setting(None)

    @classmethod
    def of(
        cls, completion: CompletionSettings, rescaling: RescalingSettings | None
    ) -> PreparationSettings:
        return cls(**vars(completion), rescaling=rescaling)

    @property
    def completion(self) -> CompletionSettings:
        """Without the rescaling."""
        own = {each.name: getattr(self, each.name) for each in fields(CompletionSettings)}
        return CompletionSettings(**own)
