"""How long each operation that shapes a table takes to show what it would do, on a large table.

    python bench/shaping.py [people] [decisions]

By default 2,000 people with 200 decisions: 400,000 rows of 100 columns, read from a file as a page
reads them. Of each operation the seconds of its preview (`GradualShape.try_out`) when it is asked
for first: by the clock, and of the processor, which other work on the machine does not lengthen.
Writes the table of bench/shaping.md.
"""

from __future__ import annotations

import platform
import sys
import tempfile
from pathlib import Path
from time import perf_counter, process_time

import numpy as np
import pandas as pd

import smdp
from smdp.data.shaping.gradual import GradualShape
from smdp.data.shaping.operation import Operation
from smdp.parallel import cores

PEOPLE, DECISIONS, COLUMNS = 2_000, 200, 100
BAR = 2.0
WORDS = ("tired", "walked", "home", "work", "friends", "rain", "coffee", "late", "good", "train")


def raw_table(people: int, decisions: int, seed: int = 1) -> pd.DataFrame:
    """Codes, dates, times, apps, sentences, and numbers with gaps."""
    random = np.random.default_rng(seed)
    rows = people * decisions
    who, beep = np.repeat(np.arange(people), decisions), np.tile(np.arange(decisions), people)
    day = pd.Timestamp("2024-01-01") + pd.to_timedelta(random.integers(0, 90, people)[who], "D")
    day = day + pd.to_timedelta(beep // 5, "D")
    minute = 60 * (8 + 3 * (beep % 5)) + random.integers(0, 60, rows)
    send = random.random(rows) < 0.6
    active = send & (random.random(rows) < 0.5)
    made = {
        "person": np.char.add("user", who.astype(str)),
        "beep": beep + 1,
        "slot": beep % 5 + 1,
        "date": day.strftime("%d.%m.%Y"),
        "clock": [f"{m // 60:02d}:{m % 60:02d}" for m in minute],
        "moment": (day + pd.to_timedelta(minute, "min")).strftime("%Y-%m-%d %H:%M"),
        "send": send.astype(int),
        "send.active": active.astype(int),
        "send.sedentary": (send & ~active).astype(int),
        "weather": random.choice(["sun", "rain", "snow", "fog", "hail"], rows),
        "app": np.char.add("app", (5_000 * random.random(rows) ** 3).astype(int).astype(str)),
        "note": [" ".join(words) for words in random.choice(WORDS, (rows, 6))],
        "wind": np.where(random.random(rows) < 0.1, "unknown", (beep % 30).astype(str)),
    }
    for number in range(COLUMNS - len(made)):
        values = np.round(random.normal(50, 20, rows), 0 if number == 9 else 2)
        made[f"x{number}"] = np.where(random.random(rows) < 0.05, np.nan, values)
    return pd.DataFrame(made)


def people_table(people: int, seed: int = 2) -> pd.DataFrame:
    random = np.random.default_rng(seed)
    made = {"person": [f"user{who}" for who in range(people)]}
    return pd.DataFrame(made | {f"p{k}": random.normal(size=people).round(2) for k in range(15)})


def operations() -> dict[str, Operation]:
    compute = {
        "compute: log": "log(x0 + 0.5)",
        "compute: arithmetic": "(x0 - x1) / x2 + x3 ^ 2 * sqrt(abs(x4))",
        "compute: if, and, or": "if(send = 1 and (x0 > 50 or is_missing(x1)), x2, 0)",
        "compute: mean of 10 columns": f"mean({', '.join(f'x{k}' for k in range(10))})",
        "compute: lag": "lag(x0, 2)",
        "compute: difference": "difference(log(x0 + 0.5))",
        "compute: time since the last row": "time_since_last()",
        "compute: row number": "row_number()",
        "compute: day number": "day_number(moment)",
        "compute: weekday and hour": "weekday(moment) * 100 + hour(moment)",
        "compute: days between dates": "date(moment) - date('2024-01-01')",
        "compute: numbers in text": "number(wind)",
        "compute: words in text": "contains(lower(note), 'tired')",
    }
    rules = (("send = 0", "none"), ("send.active = 1", "active"), ("send.sedentary = 1", "rest"))
    return {
        **{what: smdp.ComputeColumn("new", formula) for what, formula in compute.items()},
        "combine: three columns": smdp.CombineColumns("treatment", rules),
        "recode: 5 levels": smdp.RecodeColumn("weather", {"hail": "rain", "fog": ""}),
        "recode: of 5,000 levels": smdp.RecodeColumn("app", {"app1": "one", "app2": "two"}),
        "recode: a number": smdp.RecodeColumn("x9", {"50": "", "51": "52"}),
        "group rare: 5,000 levels": smdp.GroupRare("app", fewest_rows=100),
        "date and time": smdp.DateAndTime("at", "date", clock=("clock",)),
        "date and prompt": smdp.DateAndTime("at", "date", beep="slot", hours=(8, 11, 14, 17, 20)),
        "split date": smdp.SplitDate("moment", "day", "hour"),
        "keep rows: numbers": smdp.KeepRows("x0 > 20 or is_missing(x0)"),
        "keep rows: days": smdp.KeepRows("day_number(moment) <= 30"),
        "drop columns": smdp.DropColumns(tuple(f"x{k}" for k in range(40))),
        "rename": smdp.RenameColumn("x0", "steps"),
        "pseudonymise": smdp.Pseudonymise("person", seed=1),
        "join: a row a person": smdp.JoinTable("people", ("person",)),
        "join: a row a decision": smdp.JoinTable("phone", ("person", "beep")),
    }


def main() -> None:
    people, decisions = (int(each) for each in (sys.argv[1:] or (PEOPLE, DECISIONS)))
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "raw.parquet"
        raw_table(people, decisions).to_parquet(file)
        table = smdp.read_table(file)
    phone = table[["person", "beep"]].assign(battery=table["x0"], screen=table["x1"])
    phone = phone.sample(frac=1, random_state=3, ignore_index=True)
    tables = {"people": people_table(people), "phone": phone}
    gradual = GradualShape(table, tables)
    gradual.after((), person="person", time="beep")
    print(
        f"{len(table):,} rows of {table.shape[1]} columns, {cores()} cores ({platform.machine()})"
    )
    print("\n| operation | by the clock (s) | of the processor (s) |\n|---|---|---|")
    worst = 0.0
    for what, operation in operations().items():
        began, used = perf_counter(), process_time()
        gradual.try_out(operation, 0)
        clock, used = perf_counter() - began, process_time() - used
        worst = max(worst, used)
        print(f"| {what} | {clock:.2f} | {used:.2f} |", flush=True)
    print(f"\nAt most {worst:.2f} s of the processor; the aim is {BAR:g} s.")


if __name__ == "__main__":
    main()
