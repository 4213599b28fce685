"""The one engine: an analysis as far as it has come, which runs, knows its state, and is saved.

An `Analysis` is never changed; each call gives another one. The dashboard, `smdp run`, notebooks
and the worker processes all make the same calls, so that a click equals the script.
"""

from __future__ import annotations

import html
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, is_dataclass, replace
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args, get_origin

import pandas as pd

from smdp.analysis.deviations import Deviation, deviations_from
from smdp.analysis.further_tables import FurtherTable, further_tables, tables_beside
from smdp.analysis.locked_plan import LockedPlan, lock_plan
from smdp.analysis.plan import AnalysisPlan
from smdp.analysis.provenance import StepRecord, TableSource, now, source_of, versions
from smdp.analysis.saved_file import read_saved, save_analysis
from smdp.analysis.summary import summary_text
from smdp.blocks import readable
from smdp.data.column_roles import ColumnRoles
from smdp.data.files.file_source import Source
from smdp.data.problem import Problem
from smdp.data.read_table import read_table
from smdp.errors import SettingError, SmdpError
from smdp.plain_data import fingerprint
from smdp.progress import Cancelled, Progress, between, silent
from smdp.steps import Step, step_named, steps
from smdp.steps.data import long_table
from smdp.steps.step import StepState
from smdp.steps.step_plans import ReadingSettings
from smdp.text import listing, shorten
from smdp.validation.versions import Version

if TYPE_CHECKING:
    from smdp.data.outcome import OutcomeName
    from smdp.data.prepare import CompletedStudy, PreparedData
    from smdp.data.study import Study
    from smdp.evaluation.placebo import PlaceboCheck
    from smdp.evaluation.rule_value import RuleReport
    from smdp.evaluation.trial_effects import TrialSummary
    from smdp.evaluation.value import PolicyValue
    from smdp.evaluation.whole_analysis import FoldAnalyses
    from smdp.feature_map.fitted_map import FittedFeatureMap
    from smdp.feature_map.stability import FeatureMapStability
    from smdp.markov.markov_check import MarkovCheck
    from smdp.policy.learned_policy import LearnedPolicy
    from smdp.screening import ScreeningResult
    from smdp.validation.imputation_draws import ImputationDraws
    from smdp.validation.new_data import NewDataCheck
    from smdp.validation.passport import Passport
    from smdp.validation.twin_study import TwinStudy


HIDDEN = (
    "The outcome is hidden: its values are shuffled among the rows, so that everything can be set "
    "up before they are seen. Nothing here is a finding."
)


class AnalysisCancelled(Cancelled):
    """The work was stopped; `finished` has the steps that were done by then."""

    finished: Analysis

    def __init__(self, finished: Analysis) -> None:
        super().__init__("The analysis was stopped.")
        self.finished = finished


@dataclass(frozen=True, eq=False, repr=False)
class Analysis:
    """What was asked for, what it was asked of, and what has been found so far.

    `table`: the table as it was read, None where it was left out of a file. `tables`: others that
    the plan reads, by name. `results`, `records`: by the step's name, what was found and how it
    came to be; a result may be older than the plan (`state`). `choices`: plain data that a program
    wants to find again. `stopped`: why the plan was not done to its end. `outcome_hidden`: the
    outcome is shuffled among the rows while everything is set up. `locked`: the plan that was
    locked before outcomes were seen. `versions`: earlier ones, before it was refitted with more
    people.
    """

    plan: AnalysisPlan
    source: TableSource
    table: pd.DataFrame | None = None
    results: Mapping[str, Any] = field(default_factory=dict)
    records: Mapping[str, StepRecord] = field(default_factory=dict)
    choices: Mapping[str, Any] = field(default_factory=dict)
    stopped: str = ""
    tables: Mapping[str, FurtherTable] = field(default_factory=dict)
    outcome_hidden: bool = False
    locked: LockedPlan | None = None
    versions: tuple[Version, ...] = ()

    @classmethod
    def begin(
        cls,
        plan: AnalysisPlan,
        table: pd.DataFrame,
        tables: Mapping[str, pd.DataFrame] | None = None,
    ) -> Analysis:
        """Nothing done yet."""
        return cls(plan, source_of(table), table, tables=further_tables(tables or {}))

    @classmethod
    def from_file(
        cls,
        source: Source | pd.DataFrame,
        *,
        roles: ColumnRoles | None = None,
        tables: Mapping[str, pd.DataFrame] | None = None,
        **sections: Any,
    ) -> Analysis:
        """Begin with a file, or a table. Roles that are not given are guessed.

        `tables`: those that the plan joins, by name; else their files are looked for beside this
        one. `sections`: others of the plan, such as `reading` or `preparation`.
        """
        reading = sections.get("reading") or ReadingSettings()
        if isinstance(source, pd.DataFrame):
            table = source
        else:
            table = read_table(source, sheet=reading.sheet)
        if roles is None:
            from smdp.data.guess_roles import guess_roles

            joined = tables_beside(reading.joined, source) if tables is None else tables
            roles = guess_roles(long_table(table, reading, tables=joined))
        plan = AnalysisPlan(roles=roles, **sections)
        if tables is None:
            tables = tables_beside(plan.tables, source)
        return cls.begin(plan, table, tables)

    # What has been found, by the names that people use.

    @property
    def frames(self) -> dict[str, pd.DataFrame]:
        """The tables that can be joined, by name."""
        every = self.tables.items()
        return {name: each.table for name, each in every if each.table is not None}

    @property
    def study(self) -> Study | None:
        return self.results.get("data")

    @property
    def completed(self) -> CompletedStudy | None:
        return self.results.get("missing")

    @property
    def prepared(self) -> PreparedData | None:
        return self.results.get("rescaling")

    @property
    def screening(self) -> ScreeningResult | None:
        return self.results.get("screening")

    @property
    def feature_map(self) -> FittedFeatureMap | None:
        return self.results.get("features")

    @property
    def stability(self) -> FeatureMapStability | None:
        return self.results.get("stability")

    @property
    def markov(self) -> MarkovCheck | None:
        return self.results.get("markov")

    @property
    def policies(self) -> tuple[LearnedPolicy, ...]:
        return self.results.get("policy", ())

    @property
    def values(self) -> tuple[PolicyValue, ...]:
        """Of the policies, in their order."""
        return self.results.get("evaluation", ())

    @property
    def fold_analyses(self) -> FoldAnalyses | None:
        """The whole analysis anew without each fold of people."""
        return self.results.get("folds")

    @property
    def placebo(self) -> PlaceboCheck | None:
        return self.results.get("placebo")

    @property
    def passport(self) -> Passport | None:
        """What the conclusions rest on."""
        return self.results.get("passport")

    @property
    def new_data(self) -> NewDataCheck | None:
        return self.results.get("new_data")

    @property
    def twin(self) -> TwinStudy | None:
        """What repetitions on a twin of the study found."""
        return self.results.get("twin")

    @property
    def imputations(self) -> ImputationDraws | None:
        """Results with missing values drawn several times."""
        return self.results.get("imputations")

    @property
    def rule(self) -> RuleReport | None:
        return self.results.get("rule")

    @property
    def trial(self) -> TrialSummary | None:
        return self.results.get("trial")

    @property
    def outcome_name(self) -> OutcomeName:
        """What the outcome is called that the prepared data were made with."""
        from smdp.data.outcome import UTILITY_NAME

        plan: AnalysisPlan | None = self.plan  # none where a result shows itself, on its own
        if plan is None:
            return UTILITY_NAME
        said = plan.roles
        arranged = getattr(getattr(self.prepared, "completed", None), "arranged", self.study)
        made = said if arranged is None else arranged.roles
        same = (made.utility, made.outcome_sign) == (said.utility, said.outcome_sign)
        return said.outcome_name if same else made.outcome_name

    # What state it is in.

    def inputs(self, step: str | Step) -> dict[str, str]:
        """The fingerprint of each thing that the step would work on; "" for what is not there."""
        own = step_named(step)
        found = {
            label: self.records[earlier].output if earlier in self.records else ""
            for label, earlier in own.takes.items()
        }
        for earlier in own.gathers:
            record = self.records.get(earlier)
            found[f"result of {earlier}"] = "" if record is None else record.output
        if own.reads_table:
            found["table"] = self.source.fingerprint
        return {**found, **(own.also_takes(self) if own.also_takes else {})}

    def states(self) -> dict[str, StepState]:
        """Each step's state.

        A result is fresh if it was made as the plan says, from the present results of the steps
        that it works on, and if these are fresh too.
        """
        found: dict[str, StepState] = {}
        for step in steps():
            before = all(found[name] == StepState.DONE for name in step.needed(self.plan))
            record = self.records.get(step.name)
            if record is None or (step.goes_on and not record.complete):
                found[step.name] = StepState.READY if before else StepState.NOT_STARTED
                continue
            fresh = (
                before
                and record.asked == step.asked_by(self.plan)
                and record.inputs == self.inputs(step)
            )
            found[step.name] = StepState.DONE if fresh else StepState.OUT_OF_DATE
        return found

    def state(self, step: str | Step) -> StepState:
        return self.states()[step_named(step).name]

    @property
    def out_of_date(self) -> tuple[str, ...]:
        """The steps whose results are not those of the plan."""
        return tuple(
            name for name, state in self.states().items() if state == StepState.OUT_OF_DATE
        )

    @property
    def warnings(self) -> tuple[Problem, ...]:
        """Of all steps, in their order, those of the analysis as a whole first."""
        records = [self.records[step.name] for step in steps() if step.name in self.records]
        return (*self.whole_warnings, *(p for record in records for p in record.warnings))

    @property
    def whole_warnings(self) -> tuple[Problem, ...]:
        """What has to be said of an analysis wherever it is shown or exported."""
        found = [
            Problem(
                "warning",
                name,
                f"The result of the step '{name}' is out of date: since it was made, its settings "
                "or something before it has changed.",
                "Run this step again before you use it.",
            )
            for name in self.out_of_date
        ]
        found += [
            Problem(
                "warning",
                record.step,
                f"The step '{record.step}' was stopped before its end: done again with the same "
                "settings, it gives another result.",
                "Run it to its end before you report it.",
            )
            for record in self.records.values()
            if not record.complete
        ]
        if self.outcome_hidden:
            found.insert(
                0, Problem("warning", "data", HIDDEN, "Show the outcome when the plan is locked.")
            )
        if self.locked is not None and not self.locked.of_this_table(self.source):
            name = "" if self.locked.data is None else shorten(self.locked.data.name)
            found.append(
                Problem(
                    "warning",
                    "data",
                    f"The plan was locked with another table ('{name}') than the one analysed here "
                    f"('{shorten(self.source.name)}').",
                    "Take the table that it was locked with, or say why it is another.",
                )
            )
        if self.stopped:
            found.append(Problem("warning", "", self.stopped))
        planned = [(self.plan.data_name, self.plan.data_fingerprint, self.source)]
        planned += [
            (each.file, each.fingerprint, self.tables[each.name].source)
            for each in self.plan.tables
            if each.name in self.tables
        ]
        found += [
            Problem(
                "note",
                "data",
                f"The plan was made with another file ('{file}') than the one analysed here "
                f"('{source.name}').",
            )
            for file, made_with, source in planned
            if made_with and source.file_fingerprint and made_with != source.file_fingerprint
        ]
        return tuple(found)

    @property
    def deviations(self) -> tuple[Deviation, ...]:
        """In what this departs from the plan that was locked; nothing where none was."""
        if self.locked is None:
            return ()
        done = {name: record.asked for name, record in self.records.items()}
        return deviations_from(self.locked.plan, self.plan, done)

    # What can be done with it.

    def with_outcome_hidden(self, hidden: bool = True) -> Analysis:
        """With the outcome shuffled among the rows, or as it is; results are then out of date."""
        return replace(self, outcome_hidden=hidden)

    def lock(self) -> LockedPlan:
        """The present plan, locked for the present table; the analysis itself stays as it is."""
        return lock_plan(self.plan, self.source, outcome_hidden=self.outcome_hidden)

    def with_locked(self, locked: LockedPlan | None) -> Analysis:
        """Held against this plan from now on: reports list every deviation from it."""
        return replace(self, locked=locked)

    def with_plan(self, **changes: Any) -> Analysis:
        """With other sections of the plan; results stay, and may be out of date by it."""
        return replace(self, plan=self.plan.replace(**changes))

    def with_settings(self, step: str | Step, **settings: Any) -> Analysis:
        """With other settings of one step, by their names: `with_settings("screening", level=.05)`.

        Settings that are not named stay as they are in the plan, or have their defaults. Of a step
        that is done several times, such as the policies, all are given the setting.
        """
        own = step_named(step)
        changes: dict[str, Any] = {}
        for section in own.sections:
            now = self.plan.section(section.name)
            if get_origin(section.kind) is tuple:
                changes[section.name] = now or (get_args(section.kind)[0](),)
            else:
                changes[section.name] = now if now is not None else section.kind()
        for name, value in settings.items():
            for key, held in changes.items():
                if (changed := _changed(held, name, value)) is not None:
                    changes[key] = changed
                    break
            else:
                known = [name for held in changes.values() for name in _names(held)]
                raise SettingError(
                    f"The step '{own.name}' has no setting '{shorten(name)}'"
                    + ("." if known else " that can be given by its name."),
                    f"It has: {listing(known, 40)}." if known else _whole_section(own),
                )
        return self.with_plan(**changes)

    def with_result(
        self,
        step: str | Step,
        result: Any,
        *,
        seconds: float | None = None,
        warnings: tuple[Problem, ...] | None = None,
    ) -> Analysis:
        """With a step just done as the plan says, on the results so far."""
        own = step_named(step)
        record = StepRecord(
            step=own.name,
            inputs=self.inputs(own),
            asked=own.asked_by(self.plan),
            output=fingerprint(own.hands_on(result)),
            summary=own.summary(result, self),
            seconds=seconds,
            complete=bool(getattr(result, "complete", True)),
            warnings=tuple(own.warns(result, self)) if warnings is None else warnings,
            finished=now(),
            versions=versions(),
        )
        return self.with_record(record, result)

    def with_record(self, record: StepRecord, result: Any) -> Analysis:
        """With a result whose record is known already."""
        return replace(
            self,
            results={**self.results, record.step: result},
            records={**self.records, record.step: record},
            stopped="",  # it went on since
        )

    def run(
        self, step: str | Step, *, progress: Progress | None = None, **settings: Any
    ) -> Analysis:
        """Do one step, with these settings, and before it whatever it needs that is not fresh.

        Stopped by `progress` or the keyboard, it raises `AnalysisCancelled`.
        """
        own = step_named(step)
        asked = self.with_settings(own, **settings) if settings or self._lacks(own) else self
        return asked._run_each(asked._to_do(own), progress or silent)

    def run_one(self, step: str | Step, *, progress: Progress | None = None) -> Analysis:
        """Do one step on the present results, as the plan says."""
        own = step_named(step)
        if own.asked_by(self.plan) is None:
            raise SettingError(
                f"The plan does not say how the step '{own.name}' is to be done.",
                _whole_section(own),
            )
        if why := own.blocked(self):
            raise SettingError(why)
        if own.reads_table and self.table is None:
            raise SettingError(
                f"The step '{own.name}' reads the table, which is not here: the analysis was saved "
                "without its data.",
                "Give it the table again: with_table(..).",
            )
        needed = dict.fromkeys((*own.takes.values(), *own.needed(self.plan)))
        lacking = [name for name in needed if name not in self.results]
        if lacking:
            raise SettingError(
                f"The step '{own.name}' works on the result of {listing(lacking)}, which is not "
                "there.",
                "Run that step first; an analysis saved without its data needs its table.",
            )
        began = time.perf_counter()
        result = own.run(self, progress or silent)
        return self.with_result(own, result, seconds=time.perf_counter() - began)

    def run_all(self, *, progress: Progress | None = None) -> Analysis:
        """Do what the plan says, step by step, from the beginning.

        Where a step leaves nothing to go on with (screening keeps no variable), the analysis ends
        there and says so. Stopped by `progress` or the keyboard, it raises `AnalysisCancelled`.
        """
        say = progress or silent
        analysis = self._run_each(self.plan.steps, say, end_if_blocked=True)
        if not analysis.stopped:
            say(1.0, "The analysis is done")
        return analysis

    def _run_each(
        self, todo: Sequence[Step], say: Progress, *, end_if_blocked: bool = False
    ) -> Analysis:
        """Do several steps; an error says in which it was."""
        analysis, done = self, 0.0
        total = sum(step.effort for step in todo)
        try:
            for step in todo:
                if end_if_blocked and (why := step.blocked(analysis)):
                    return replace(analysis, stopped=why)
                share, end = done / total, (done + step.effort) / total
                named = between(say, share, end, prefix=f"{step.name.capitalize()}: ")
                try:
                    analysis = analysis.run_one(step, progress=named)
                except SmdpError as error:
                    text = f"Step '{step}': {error.problem}"
                    raise type(error)(text, error.remedy, error.concerns) from error
                done += step.effort
        except (Cancelled, KeyboardInterrupt) as stop:
            raise AnalysisCancelled(analysis) from stop
        return analysis

    def with_table(
        self, table: pd.DataFrame, tables: Mapping[str, pd.DataFrame] | None = None
    ) -> Analysis:
        """An analysis that was saved without its data, with them again.

        `tables`: those that the plan joins, by name.

        The steps whose results are the values of single people are done anew as the plan says. If
        the table is the same, the later results stay fresh; if not, they are out of date where the
        prepared data differ.
        """
        planned = [step.name for step in self.plan.steps if step.personal]
        plan = self.plan.replace(stop_after=planned[-1])
        begun = Analysis.begin(plan, table, {**self.frames, **(tables or {})})
        early = replace(begun, outcome_hidden=self.outcome_hidden, locked=self.locked).run_all()
        records = dict(early.records)
        if early.inputs("data") == self.inputs("data"):
            # The same cells, prepared in the same way: what was made from them was made from these,
            # also where a version of smdp that described them otherwise wrote the file.
            for name in planned:
                known = self.records.get(name)
                if known is not None and known.asked == records[name].asked:
                    records[name] = replace(records[name], output=known.output, inputs=known.inputs)
            synthetic = early.source.synthetic or self.source.synthetic
            early = replace(early, source=replace(early.source, synthetic=synthetic))
        late = [step.name for step in steps() if step.name not in planned]
        return replace(
            early,
            plan=self.plan,
            results={**early.results, **_only(self.results, late)},
            records={**records, **_only(self.records, late)},
            stopped=self.stopped,
            versions=self.versions,
        )

    # What leaves it.

    def save(self, path: str | PathLike[str], *, with_data: bool = True) -> Path:
        """Write everything into one file (.smdp); `smdp.load_analysis` opens it."""
        return save_analysis(self, path, with_data=with_data)

    def report(self, path: str | PathLike[str], **options: Any) -> Path:
        """Write the report: HTML, or Word where the file's name ends in .docx."""
        from smdp.report.collect import write_report

        return write_report(self, path, **options)

    def summary(self) -> str:
        """What was done, what it says, what to check, in words."""
        return summary_text(self)

    def __repr__(self) -> str:
        states = self.states()
        lines = [
            f"  {step.title}: {self.records[step.name].summary}"
            + (" (out of date)" if states[step.name] == StepState.OUT_OF_DATE else "")
            for step in steps()
            if step.name in self.records
        ]
        return "\n".join([f"Analysis of {self.source.name}", *(lines or ["  nothing done yet"])])

    def _repr_html_(self) -> str:
        head, *lines = (html.escape(readable(line)) for line in repr(self).splitlines())
        return f"<div><p><b>{head}</b></p><ul>{''.join(f'<li>{x}</li>' for x in lines)}</ul></div>"

    def _lacks(self, step: Step) -> bool:
        """Whether the plan does not say how the step is done."""
        return bool(step.sections) and step.asked_by(self.plan) is None

    def _to_do(self, step: Step) -> list[Step]:
        """The step, and before it those that it needs and that are not fresh."""
        found: list[Step] = [step]
        states = self.states()
        for name in step.needed(self.plan):
            if states[name] != StepState.DONE:
                found = [*self._to_do(step_named(name)), *found]
        return list(dict.fromkeys(found))


def load_analysis(source: Source, *, name: str | None = None) -> Analysis:
    """The analysis in a file (a path, the bytes, or an open file).

    A file that was changed, cut short, added to or made by a later version is refused.
    """
    return Analysis(**read_saved(source, name=name))


def run_analysis(
    table: pd.DataFrame | Source,
    plan: AnalysisPlan,
    *,
    tables: Mapping[str, pd.DataFrame] | None = None,
    outcome_hidden: bool = False,
    progress: Progress | None = None,
) -> Analysis:
    """Do what the plan says with a table, or with the file that holds it (`Analysis.run_all`).

    `tables`: those that the plan joins, by name; else their files are looked for beside this one.
    `outcome_hidden`: with the outcome shuffled among the rows, before a plan is locked.
    The result depends on the tables and the plan only.
    """
    if tables is None:
        tables = tables_beside(plan.tables, table)
    if not isinstance(table, pd.DataFrame):
        (progress or silent)(0.0, "Reading the table")
        table = read_table(table, sheet=plan.reading.sheet)
    begun = Analysis.begin(plan, table, tables).with_outcome_hidden(outcome_hidden)
    return begun.run_all(progress=progress)


def _only(mapping: Mapping[str, Any], names: list[str]) -> dict[str, Any]:
    return {name: value for name, value in mapping.items() if name in names}


def _whole_section(step: Step) -> str:
    """How to give all settings of a step at once."""
    if not step.sections:
        return (
            f"It is asked for by the settings of the steps before '{step.name}': see with_plan(..)."
        )
    return f"Give its whole section: with_plan({step.sections[0].name}=..)."


def _names(section: Any) -> list[str]:
    """The settings of a section of the plan, those of its nested settings too."""
    if isinstance(section, tuple):
        return _names(section[0])
    found = []
    for each in fields(section):
        own = getattr(section, each.name)
        found += _names(own) if each.name == "settings" and is_dataclass(own) else [each.name]
    return found


def _with_fitting_settings(section: Any, change: dict[str, Any]) -> Any:
    """Where the class of the settings depends on what is changed, another one has its defaults."""
    chosen = getattr(section, "flat_type", None)
    if chosen is not None and not isinstance(section.settings, chosen(change)):
        change = {**change, "settings": None}
    return replace(section, **change)


def _changed(section: Any, name: str, value: Any) -> Any:
    """The section with another value of that setting, None if it has no such setting."""
    if isinstance(section, tuple):
        each_changed = tuple(_changed(each, name, value) for each in section)
        return None if None in each_changed else each_changed
    for each in fields(section):
        if each.name == name:
            return _with_fitting_settings(section, {name: value})
        if each.name == "settings":
            inner = _changed(section.settings, name, value)
            if inner is not None:
                return replace(section, settings=inner)
    return None
