"""What the default screening and map find in HeartSteps, a real trial, not part of the project.

Usage: python bench/heartsteps.py path/to/heartsteps_v1.csv
"""

from __future__ import annotations

import sys
from dataclasses import replace
from time import perf_counter

import pandas as pd

import smdp

OF_CANDIDATES = ("pass", "dimension", "p_exact", "p_form", "share_kept", "share_at_least",
                 "share_low", "share_high", "value_lost", "value_lost_low", "value_lost_high",
                 "chosen_by")  # fmt: skip


def main() -> None:
    if len(sys.argv) < 2:
        print("Left out: it needs the table as its argument (see shared/data/heartsteps).")
        return
    frame = pd.read_csv(sys.argv[1])
    roles = smdp.guess_roles(frame)
    everybody = [v for v in roles.variables if v.name != "log_gf_pre30"]  # 10 people lack it
    for note, states, settings in (
        ("everybody", everybody, smdp.PreparationSettings()),
        ("people who have every variable", roles.variables,
         smdp.PreparationSettings(unobserved="exclude")),
    ):  # fmt: skip
        trajectories = smdp.prepare(frame, replace(roles, states=states), settings).trajectories
        start = perf_counter()
        found = smdp.screen(trajectories)
        n, times, p = len(trajectories.subjects), trajectories.valid.sum(), len(states)
        print(f"{note}: {n} people, {times:,} decisions, {p} variables, "
              f"{perf_counter() - start:.1f} s")  # fmt: skip
        print("earlier actions held fixed:", found.past_actions, "; p of earlier actions given "
              f"the set: {found.earlier_actions}")  # fmt: skip
        table = found.table.drop(columns=["reason", "q_value"])
        print(table.round(4).to_string())
        print(found.arrows[found.arrows["family_p"] <= 0.10].to_string(index=False))
        start = perf_counter()
        fitted = smdp.fit_feature_map(trajectories.select(found.selected))
        print(
            f"dimension {fitted.dimension} of {len(found.selected)}, {perf_counter() - start:.0f} s"
        )
        print(fitted.candidates[list(OF_CANDIDATES)].round(3).to_string(index=False))


if __name__ == "__main__":
    main()
