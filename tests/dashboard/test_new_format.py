"""A file format that is added from outside is read by the page."""

from toy_reader import JSON_LINES, json_lines

from smdp.data.files import registry


def test_a_registered_format_can_be_uploaded(app):
    registry.register(JSON_LINES)
    try:
        app.run()
        assert app.at.file_uploader[0].label.endswith("Parquet or JSON lines")
        rows = [{"id": i, "time": t, "mood": i + t} for i in range(3) for t in range(4)]
        app.upload("diary.jsonl", json_lines(rows))
        assert app.title == "Data"
        assert "diary.jsonl" in app.text
    finally:
        registry.unregister(JSON_LINES)
