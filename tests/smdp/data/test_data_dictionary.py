"""REDCap's data dictionary: what it says of columns, and what is wrong with it."""

import pandas as pd
import pytest

import smdp
from smdp.data.data_dictionary import described_by, is_dictionary, read_dictionary
from smdp.data.guess_roles import guess_columns
from smdp.data.role_table import role_table
from smdp.errors import ReadError
from smdp.steps.data import long_table

HEAD = (
    '"Variable / Field Name","Form Name","Section Header","Field Type","Field Label",'
    '"Choices, Calculations, OR Slider Labels","Field Note",'
    '"Text Validation Type OR Show Slider Number","Text Validation Min","Text Validation Max",'
    '"Identifier?"\n'
)
ROWS = """\
record_id,base,,text,Record,,,,,,
module,ema,,radio,Module shown,"0, Information | 1, Treatment",,,,,
stress,ema,,radio,"<b>How</b> stressed?","1, Not at all | 2, A little | 3, Very | -9, Refused",,,,,
urge,ema,,slider,Urge to smoke,none | middling | strong,,number,,,
cigs,ema,,text,Cigarettes since,,,integer,0,60,
sleep,ema,,text,Hours of sleep,,,number_1dp,0,24,
seen,ema,,text,Seen on,,,date_ymd,2020-01-01,2021-01-01,
home,ema,,yesno,At home?,,,,,,
email,base,,text,E-mail,,,email,,,y
said,ema,,notes,Anything else,,,,,,
who,ema,,checkbox,With whom,"1, Friends | -1, Nobody",,,,,
total,ema,,calc,Sum,"sum([urge],[cigs])",,,,,
"""


def dictionary(rows: str = ROWS) -> smdp.DataDictionary:
    return read_dictionary((HEAD + rows).encode(), name="dictionary.csv")


def export() -> pd.DataFrame:
    return pd.DataFrame(
        {
            "record_id": [1, 1, 1, 2, 2, 2],
            "report": [1, 2, 3] * 2,
            "module": [0, 1, 0, 1, 0, 1],
            "stress": [1, 2, 3, 1, -9, 3],
            "urge": [10.0, 20, 30, 40, 50, 60],
            "cigs": [0, 3, 2, 1, 5, 4],
            "email": [5, 6, 7, 8, 9, 1],
            "home": [0, 1, 0, 1, 1, 0],
            "who___1": [0, 1, 0, 1, 0, 0],
        }
    )


def test_labels_types_choices_and_ranges():
    fields = dictionary().fields
    assert fields["stress"].label == "How stressed?"
    assert (fields["stress"].kind, fields["stress"].low, fields["stress"].high) == ("ordinal", 1, 3)
    assert fields["stress"].missing_codes == ("-9",)
    assert (fields["urge"].kind, fields["urge"].low, fields["urge"].high) == ("continuous", 0, 100)
    assert (fields["cigs"].kind, fields["cigs"].low, fields["cigs"].high) == (None, 0, 60)
    assert (fields["sleep"].kind, fields["sleep"].high) == ("continuous", 24)
    assert fields["seen"].low is None
    assert (fields["home"].kind, dict(fields["home"].choices)) == (
        "binary",
        {"1": "yes", "0": "no"},
    )
    assert fields["who___1"].label == "With whom: Friends"
    assert "who____1" in fields
    assert fields["email"].never_a_state
    assert fields["said"].never_a_state
    assert fields["total"].choices == {}


def test_it_says_the_same_under_the_names_of_the_api():
    head = (
        "field_name,form_name,section_header,field_type,field_label,"
        "select_choices_or_calculations,field_note,text_validation_type_or_show_slider_number,"
        "text_validation_min,text_validation_max,identifier\n"
    )
    assert read_dictionary((head + ROWS).encode(), name="dictionary.csv") == dictionary()


def test_the_table_of_roles_takes_what_is_said():
    frame = export()
    roles = described_by(role_table(frame, guess_columns(frame)), dictionary())
    roles = roles.set_index("column")
    assert list(roles.loc["stress", ["type", "lowest", "highest"]]) == ["ordinal", 1, 3]
    assert roles.loc["stress", "missing codes"] == "-9"
    assert roles.loc["stress", "label"] == "How stressed?"
    assert roles.loc["cigs", "highest"] == 60
    assert roles.loc["email", "role"] == "ignore"
    assert roles.loc["module", "role"] == "action"
    assert roles.loc["record_id", "role"] == "subject"
    assert roles.loc["report", "label"] == ""


def test_recorded_in_plan_and_script_and_known_to_the_study(tmp_path):
    path = tmp_path / "export.csv"
    export().to_csv(path, index=False)
    frame, said = smdp.read_table(path), dictionary()
    roles = smdp.ColumnRoles(
        "record_id", "report", "module", ["stress", "home"], smdp.NextValue("stress", -1)
    )
    plan = smdp.AnalysisPlan(
        roles=roles,
        reading=smdp.ReadingSettings(
            missing_codes={"stress": ("-9",)},
            labels=said.labels(frame.columns),
            choices=said.choices(frame.columns),
        ),
        stop_after="data",
    )
    again = smdp.AnalysisPlan.from_toml(plan.to_toml())
    assert again == plan
    assert smdp.AnalysisPlan.from_json(plan.to_json()) == plan
    study = smdp.run_analysis(path, again).study
    assert study.action_labels == ("Information", "Treatment")
    stress, home = study.variables
    assert stress.label == "How stressed?"
    assert dict(home.levels) == {0.0: "no", 1.0: "yes"}
    assert stress.text(2.0) == "A little"
    names: dict = {}
    exec(again.to_script(str(path)), names)
    assert names["study"] == study
    assert names["study"].variables == study.variables
    assert frame.attrs["variable_labels"] == {}


def test_a_wide_table_is_described_by_its_first_columns():
    rows = [f"stress_{k},ema,,slider,Stress,,,,0,10,\n" for k in (1, 2, 3)]
    said = dictionary("".join(rows))
    frame = pd.DataFrame({"id": [1, 2], **{f"stress_{k}": [k, k + 1] for k in (1, 2, 3)}})
    reading = smdp.ReadingSettings(layout="wide", labels=said.labels(frame.columns))
    long = long_table(frame, reading)
    assert long.attrs["variable_labels"]["stress"] == "Stress"
    assert said.of(["stress"])["stress"].high == 10


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("a,b\n1,2\n", "has no column 'Variable / Field Name', 'Field Type'"),
        (HEAD + ROWS + "cigs,ema,,text,Again,,,,,,\n", "'cigs' stands twice"),
        (HEAD + "x,ema,,radio,X,1 Never | 2 Often,,,,,\n", "'1 Never | 2 Often' has no comma"),
        (HEAD + 'x,ema,,radio,X,"1, A | 1, B",,,,,\n', "the code 1 for two choices"),
        (HEAD + "x,ema,,radio,X,,,,,,\n", "names none"),
        (HEAD + "x,ema,,matrix,X,,,,,,\n", "has the type 'matrix'"),
        (HEAD + "x,ema,,text,X,,,number,9,3,\n", "is empty: 9 to 3"),
    ],
)
def test_what_is_wrong_is_one_message(content, words):
    with pytest.raises(ReadError) as error:
        read_dictionary(content.encode(), name="dictionary.csv")
    assert words in error.value.problem.replace("'1 Never'", "'1 Never | 2 Often'")
    assert error.value.remedy


def test_of_another_project():
    with pytest.raises(ReadError, match="None of the 13 fields of"):
        dictionary().require_any(["a", "b"])


def test_a_dictionary_is_no_data():
    assert (
        is_dictionary(pd.DataFrame(columns=HEAD.strip().replace('"', "").split(",")[:4])) is False
    )
    assert is_dictionary(smdp.read_table((HEAD + ROWS).encode(), name="d.csv"))
    assert not is_dictionary(export())
