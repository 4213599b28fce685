from __future__ import annotations

import re
import zipfile
from io import BytesIO

import numpy as np
import pandas as pd
import plotly.graph_objects as go
import pytest
from PIL import Image

from smdp.blocks import NamedFigure, file_names
from smdp.errors import SettingError, SmdpError
from smdp.figures.style import DIVERGING, new_figure
from smdp.progress import Cancelled
from smdp.report import browser
from smdp.report.browser import BrowserError, find_browser
from smdp.report.figure_files import export_figures, figure_files

NOWHERE = "/nowhere/chrome"
#: Text of less than this many points cannot be read in print.
READABLE = 7.0


def bars(name: str = "treated") -> go.Figure:
    figure = new_figure(320)
    figure.add_bar(x=["=a", "b"], y=[1.5, 2], name=name, marker={"color": "#0072B2"})
    figure.add_bar(x=["=a", "b"], y=[1, 3], name="not", marker={"color": "#E69F00"})
    figure.update_xaxes(title_text="A title of an axis that is far too long for a narrow column")
    return figure


def weights() -> go.Figure:
    figure = new_figure(300)
    figure.add_heatmap(z=np.array([[-1.0, 0.5], [0.0, 1.0]]), x=["a", "b"], y=["f", "g"],
                       colorscale=DIVERGING, zmin=-1, zmax=1)  # fmt: skip
    return figure


@pytest.fixture(scope="module")
def drawn(chrome):
    """Every format of two figures, in colour and with titles, by one browser."""
    named = [
        NamedFigure("bars", "Bars", bars(), marks=("synthetic data",)),
        NamedFigure("weights", "Weights", weights()),
    ]
    return figure_files(named, formats=("svg", "pdf", "png", "tiff"), browser=chrome)


def test_each_figure_in_each_format_with_its_numbers(drawn):
    kinds = ("svg", "pdf", "png", "tiff", "csv")
    assert list(drawn) == [f"{n}.{k}" for n in ("synthetic-bars", "weights") for k in kinds]


def test_raster_files_have_the_size_and_the_dpi(drawn):
    for kind in ("png", "tiff"):
        with Image.open(BytesIO(drawn[f"weights.{kind}"])) as image:
            assert image.width == 1004  # 85 mm at 300 dpi
            assert image.mode == "RGB"
            assert float(image.info["dpi"][0]) == pytest.approx(300, abs=0.1)
            assert image.width / float(image.info["dpi"][0]) * 25.4 == pytest.approx(85, abs=0.05)
            assert image.getpixel((2, 2)) == (255, 255, 255)


def test_vector_files_are_a_column_wide(drawn):
    svg = drawn["weights.svg"].decode()
    assert re.search(r'<svg[^>]* width="85mm" height="[\d.]+mm"', svg)
    box = re.search(rb"/MediaBox ?\[0 0 ([\d.]+) ([\d.]+)\]", drawn["weights.pdf"])
    assert float(box.group(1)) / 72 * 25.4 == pytest.approx(85, abs=0.1)
    assert drawn["weights.pdf"].count(b"/Type /Page\n") == 1


def test_text_can_be_read_in_print(drawn):
    svg = drawn["synthetic-bars.svg"].decode()
    width = float(re.search(r'viewBox="0 0 ([\d.]+)', svg).group(1))
    points = 85 / 25.4 * 72 / width
    sizes = [float(size) for size in re.findall(r"font-size: ?([\d.]+)px", svg)]
    assert min(sizes) * points >= READABLE


def test_titles_and_marks_are_in_the_figure(drawn):
    svg = drawn["synthetic-bars.svg"].decode()
    assert ">Bars<" in svg
    assert "Synthetic data" in svg
    assert "Synthetic" not in drawn["weights.svg"].decode()


def test_the_numbers_cannot_become_formulas(drawn):
    table = pd.read_csv(BytesIO(drawn["synthetic-bars.csv"]))
    assert table["x"].tolist() == ["'=a", "b", "'=a", "b"]
    assert table["y"].tolist() == [1.5, 2, 1, 3]
    cells = pd.read_csv(BytesIO(drawn["weights.csv"]))
    assert cells["value"].tolist() == [-1, 0.5, 0, 1]


def test_greyscale_and_double_width_in_a_zip(chrome, tmp_path):
    target = tmp_path / "figures.zip"
    said = []
    written = export_figures(
        {"bars": bars(), "weights": weights()},
        target,
        formats=("png", "svg"),
        preset="double",
        dpi=600,
        greyscale=True,
        titles=False,
        data=False,
        browser=chrome,
        progress=lambda share, what: said.append(share),
    )
    assert written == (target,)
    with zipfile.ZipFile(target) as archive:
        files = {name: archive.read(name) for name in archive.namelist()}
    assert sorted(files) == ["bars.png", "bars.svg", "weights.png", "weights.svg"]
    with Image.open(BytesIO(files["bars.png"])) as image:
        assert image.mode == "L"
        assert image.width == round(170 / 25.4 * 600)
        assert image.info["dpi"][0] == pytest.approx(600, abs=0.1)
    for name in ("bars.svg", "weights.svg"):
        seen = re.sub(r'<rect class="scrollbar"[^>]*>', "", files[name].decode())  # of no width
        colours = re.findall(r"rgb\((\d+), (\d+), (\d+)\)", seen)
        assert colours
        assert all(red == green == blue for red, green, blue in colours)
    assert said[0] == 0
    assert said[-1] == 1
    assert said == sorted(said)


def test_stopping_stops_the_browser(chrome, tmp_path):
    def stop(share: float, what: str) -> None:
        if share > 0:
            raise Cancelled

    with pytest.raises(Cancelled):
        export_figures({"a": bars(), "b": bars()}, tmp_path / "out", browser=chrome, progress=stop)
    assert not (tmp_path / "out").exists()


def test_a_missing_chrome_is_said_plainly(tmp_path, monkeypatch):
    with pytest.raises(BrowserError, match=NOWHERE) as caught:
        export_figures({"a": bars()}, tmp_path / "out", browser=NOWHERE)
    assert "BROWSER_PATH" in caught.value.remedy
    assert "its own menu" in caught.value.remedy
    assert isinstance(caught.value, SmdpError)
    monkeypatch.setenv("BROWSER_PATH", NOWHERE)
    assert find_browser() is None
    with pytest.raises(BrowserError, match=NOWHERE):
        figure_files({"a": bars()})
    monkeypatch.delenv("BROWSER_PATH")
    monkeypatch.setattr(browser, "find_browser", lambda: None)
    with pytest.raises(BrowserError, match="none was found") as caught:
        figure_files({"a": bars()})
    assert "Install Chrome" in caught.value.remedy
    assert not (tmp_path / "out").exists()


def test_a_program_that_is_no_browser(tmp_path):
    fake = tmp_path / "chrome"
    fake.write_text("#!/bin/sh\nexit 1\n")
    fake.chmod(0o700)
    with pytest.raises(BrowserError, match="could not be started"):
        figure_files({"a": bars()}, browser=str(fake))


def test_no_figures_need_no_browser(tmp_path):
    assert figure_files({}, browser=NOWHERE) == {}
    assert export_figures({}, tmp_path / "none", browser=NOWHERE) == ()


@pytest.mark.parametrize(
    ("options", "name"),
    [({"preset": "triple"}, "preset"), ({"dpi": 72}, "dpi"), ({"formats": ("gif",)}, "formats")],
)
def test_settings_that_cannot_be(options, name):
    with pytest.raises(SettingError, match=f"'{name}'"):
        figure_files({"a": bars()}, browser=NOWHERE, **options)


def test_the_page_that_draws_loads_local_files_only():
    page = browser._Page().generate_index()
    sources = re.findall(r'src="([^"]+)"', page)
    assert len(sources) == 2
    assert all(source.startswith("file://") for source in sources)
    assert "default-src 'none'" in page
    assert "@page { margin: 0 }" in page


def test_names_are_safe_and_different():
    figure = bars()
    names = ["../../etc/x", "a b", "A-b", "", "é" * 200]
    found = file_names([NamedFigure(name, "", figure) for name in names])
    assert found == ["etc-x", "a-b", "A-b-2", "figure", "figure-2"]
