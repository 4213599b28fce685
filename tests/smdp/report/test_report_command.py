from __future__ import annotations

from pathlib import Path

import pytest
from docx import Document

from smdp import cli
from smdp.analysis.saved_file import save_analysis


@pytest.fixture(scope="module")
def saved(analysis, tmp_path_factory) -> Path:
    return save_analysis(analysis, tmp_path_factory.mktemp("saved") / "study.smdp")


@pytest.fixture(autouse=True)
def no_chrome(monkeypatch):
    monkeypatch.setenv("BROWSER_PATH", "/nowhere/chrome")


def test_html_and_word_beside_each_other(saved, tmp_path, capsys):
    out = tmp_path / "report.html"
    asked = ["report", str(saved), "--out", str(out), "--docx", "--author", "An Author"]
    assert cli.main([*asked, "--sections", "summary", "screening", "--title", "One"]) == 0
    text = out.read_text(encoding="utf-8")
    assert "<h1>One</h1>" in text
    assert 'id="screening"' in text
    assert 'id="weights"' not in text
    document = Document(str(tmp_path / "report.docx"))
    assert document.paragraphs[0].text == "One"
    said = capsys.readouterr()
    assert "report.docx" in said.out
    assert "no Chrome was found" in said.err


def test_nothing_is_replaced_unless_asked(saved, tmp_path, capsys):
    out = tmp_path / "methods.docx"
    asked = ["report", str(saved), "--out", str(out), "--sections", "methods", "--quiet"]
    assert cli.main(asked) == 0
    before = out.read_bytes()
    assert cli.main(asked) == 2
    assert "--overwrite" in capsys.readouterr().err
    assert out.read_bytes() == before
    assert cli.main([*asked, "--overwrite"]) == 0


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ([], "Nothing was asked for"),
        (["--docx"], "--docx has no name"),
        (["--out", "report.pdf"], "end in .html or .docx"),
        (["--out", "r.html", "--sections", "weather"], "no section called weather"),
    ],
)
def test_what_cannot_be_done(saved, tmp_path, monkeypatch, capsys, options, message):
    monkeypatch.chdir(tmp_path)
    assert cli.main(["report", str(saved), *options]) == 2
    assert message in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


def test_figures_without_a_chrome(saved, tmp_path, capsys):
    assert cli.main(["report", str(saved), "--figures", str(tmp_path / "figures")]) == 2
    said = capsys.readouterr().err
    assert "/nowhere/chrome" in said
    assert "its own menu" in said


def test_figures_in_a_folder(saved, tmp_path, chrome, monkeypatch, capsys):
    monkeypatch.setenv("BROWSER_PATH", chrome)
    folder = tmp_path / "figures"
    asked = ["report", str(saved), "--figures", str(folder), "--format", "svg", "--quiet"]
    assert cli.main([*asked, "--only", "no-such-figure"]) == 2
    assert "The figures are: " in capsys.readouterr().err
    one = tmp_path / "one"
    of_own_size = ["--only", "screening-strength", "--width", "120"]
    assert cli.main([*asked[:2], "--figures", str(one), *asked[4:], *of_own_size]) == 0
    assert sorted(path.name for path in one.iterdir()) == [
        "screening-strength.csv", "screening-strength.svg",
    ]  # fmt: skip
    assert 'width="120mm"' in (one / "screening-strength.svg").read_text()
    assert cli.main([*asked, "--sections", "screening", "--greyscale", "--no-titles"]) == 0
    names = sorted(path.name for path in folder.iterdir())
    assert "screening-strength.svg" in names
    assert "screening-strength.csv" in names
    assert "files of figures" in capsys.readouterr().out


def test_it_explains_itself(capsys):
    with pytest.raises(SystemExit) as stop:
        cli.main(["report", "--help"])
    assert stop.value.code == 0
    text = capsys.readouterr().out
    assert "examples" in text
    assert "smdp report study.smdp" in text
