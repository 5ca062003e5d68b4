"""The mark on months that were redacted and not searched yet."""

from pathlib import Path

from relrag_pipelines.files.atomic import make_private
from relrag_pipelines.stores import audit_mark, lake


def test_months_stay_marked_until_they_were_searched(tmp_path: Path) -> None:
    assert audit_mark.unaudited_months(tmp_path, "chat") == []
    audit_mark.mark_unaudited(tmp_path, "chat", ["2024-02", "2024-01"])
    audit_mark.mark_unaudited(tmp_path, "chat", ["2024-05"])
    assert audit_mark.unaudited_months(tmp_path, "chat") == ["2024-01", "2024-02", "2024-05"]
    assert not audit_mark.is_unaudited(tmp_path, "notes")
    audit_mark.mark_audited(tmp_path, "chat")
    assert not audit_mark.is_unaudited(tmp_path, "chat")


def test_a_mark_without_months_stands_for_all(tmp_path: Path) -> None:
    make_private(lake.folder(tmp_path, "records", "chat"))
    (lake.folder(tmp_path, "records", "chat") / audit_mark.NAME).touch()
    audit_mark.mark_unaudited(tmp_path, "chat", ["2024-05"])
    assert audit_mark.is_unaudited(tmp_path, "chat")
    assert audit_mark.unaudited_months(tmp_path, "chat") == []
