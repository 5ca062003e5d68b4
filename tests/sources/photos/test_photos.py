"""Photos: time, camera, captions, albums and sidecars of the samples; zips; damaged files; no coordinates."""

import dataclasses
from datetime import UTC, datetime
from pathlib import Path

import orjson
import pytest

from relrag_pipelines.ingest.units import list_units
from relrag_pipelines.records import Record
from relrag_pipelines.settings import Source
from relrag_pipelines.sources import KINDS, ListingScope, ReadContext, Unit
from relrag_pipelines.sources.photos import places
from relrag_pipelines.sources.unit_files import unit_of
from tests.conftest import ROOT
from tests.sources.connector import keyed, packed, read, survives

SAMPLES = ROOT / "examples" / "samples" / "photos"
FERRY = "Google Photos/Holyhead 2023/IMG_2041.jpg"
SIDECAR = f"{FERRY}.supplemental-metadata.json"


@pytest.fixture(autouse=True)
def no_gazetteer(monkeypatch: pytest.MonkeyPatch) -> None:
    """Results do not depend on whether the package of towns is installed."""
    monkeypatch.setattr(places, "_towns", dict)


def photo(path: str, beside: tuple[str, ...] = ()) -> Record:
    unit = unit_of(SAMPLES / path, SAMPLES, tuple(SAMPLES / name for name in beside))
    (record,) = KINDS["photos"].read(unit, ReadContext("sample", "Europe/Prague", keyed))
    assert isinstance(record, Record)
    return record


def at(record: Record) -> str:
    return f"{datetime.fromtimestamp(record.ts or 0, UTC):%Y-%m-%dT%H:%M:%S}"


def test_a_photo_of_google_with_its_sidecar() -> None:
    found = photo(FERRY, (SIDECAR,))
    assert found.text.split("\n") == [
        "Photo",
        "Waiting for the ferry, Theo with the blue tent",
        "Album: Holyhead 2023",
        "People: Theo Whitcombe",
        "Camera: Canon EOS R6",
    ]
    assert (at(found), found.date_quality) == ("2023-08-12T08:41:00", "exact")
    assert [person.name for person in found.people] == ["Theo Whitcombe"]
    without = photo(FERRY)
    assert (without.subject, at(without)) == ("IMG_2041", "2023-08-12T07:41:00"), "in the zone of the source"


def test_captions_keywords_and_places_of_xmp_and_iptc() -> None:
    found = photo("Chata/krov.jpg")
    assert found.text.split("\n") == [
        "Photo",
        "Nový krov, Tomáš Blaha na střeše",
        "Album: Chata",
        "Place: Česko, Lhota",
        "Keywords: dřevo, chata, střecha",
        "Camera: samsung SM-A536B",
    ]
    assert at(found) == "2024-03-02T14:20:11"


@pytest.mark.parametrize(
    ("path", "time", "quality", "subject"),
    [
        ("Chata/20240413_101500.jpg", "2024-04-13T08:15:00", "exact", "20240413_101500"),
        ("Chata/sníh.webp", "2021-01-17T07:00:00", "exact", "Snow on the roof"),
        ("Chata/tente.png", "2022-07-01T10:00:00", "exact", "tente"),
    ],
)
def test_times(path: str, time: str, quality: str, subject: str) -> None:
    found = photo(path)
    assert (at(found), found.date_quality, found.subject) == (time, quality, subject)


def test_no_record_holds_coordinates() -> None:
    for record in (photo(FERRY, (SIDECAR,)), photo("Chata/krov.jpg")):
        held = orjson.dumps(dataclasses.asdict(record)).decode()
        assert not any(number in held for number in ("53.3", "4.63", "50.08", "14.42", "latitude"))


def test_the_nearest_town_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    towns = {(53, -5): [(53.31, -4.63, "Holyhead", "United Kingdom")], (50, 14): [(50.088, 14.42, "Prague", "Czechia")]}
    monkeypatch.setattr(places, "_towns", lambda: towns)
    assert places.place_names(53.3075, -4.6317) == ["Holyhead", "United Kingdom"]
    assert places.place_names(53.9, -4.6317) == [], "66 km away"
    assert "Place: Česko, Lhota, Prague, Czechia" in photo("Chata/krov.jpg").text


def test_a_zip_of_google(tmp_path: Path) -> None:
    members = {f"Takeout/{name}": (SAMPLES / name).read_bytes() for name in (FERRY, SIDECAR)}
    file = packed(tmp_path / "takeout.zip", {**members, "Takeout/Google Photos/broken.jpg": b"no picture"})
    (record,), (failure,) = read("photos", file)
    assert KINDS["photos"].recognise(file)
    assert record.subject == "Waiting for the ferry, Theo with the blue tent"
    assert (failure.location, failure.fault) == ("Takeout/Google Photos/broken.jpg", "damaged")


def test_recognise(tmp_path: Path) -> None:
    ours = [file for file in SAMPLES.rglob("*") if file.suffix in (".jpg", ".webp", ".png")]
    assert len(ours) == 5
    assert all(KINDS["photos"].recognise(file) for file in ours)
    (tmp_path / "plain.jpg").write_bytes((SAMPLES / "Chata/20240413_101500.jpg").read_bytes())
    (tmp_path / "a.png").write_bytes(b"\x89PNG\r\n\x1a\n")
    (tmp_path / "a.jpg").write_bytes(b"<html>")
    assert not any(KINDS["photos"].recognise(file) for file in tmp_path.iterdir())


@pytest.mark.parametrize("name", ["Chata/krov.jpg", "Chata/sníh.webp", FERRY])
def test_damaged_photos(tmp_path: Path, name: str) -> None:
    survives("photos", SAMPLES / name, tmp_path)


LONG = "Ferry from Holyhead to Dublin with the whole family"


@pytest.mark.parametrize(
    ("picture", "beside"),
    [
        ("IMG.jpg", "IMG.jpg.json"),
        ("IMG.jpg", "IMG.json"),
        ("IMG.jpg", "IMG.jpg.supplemental-metadata.json"),
        ("IMG.jpg", "IMG.jpg.supplemental-me.json"),
        ("IMG.jpg", "IMG.jpg.s.json"),
        ("IMG.jpg", "IMG.xmp"),
        ("IMG(1).jpg", "IMG.jpg(1).json"),
        ("IMG(1).jpg", "IMG(1).jpg.json"),
        ("IMG(1).jpg", "IMG.jpg.supplemental-metadata(1).json"),
        ("IMG(12).jpg", "IMG.jpg.supplem(12).json"),
        ("IMG(1).jpg", "IMG(1).xmp"),
        (f"{LONG}.jpg", f"{LONG[:46]}.json"),
        (f"{LONG}(2).jpg", f"{LONG[:46]}(2).json"),
        ("Ferry from Holyhead to Dublin in rain.jpg", "Ferry from Holyhead to Dublin in rain.jpg.supp.json"),
        ("Ferry from Holyhead to Dublin in the rain1.jpg", "Ferry from Holyhead to Dublin in the rain1.jp.json"),
    ],
)
def test_the_sidecar_of_a_photo(picture: str, beside: str, tmp_path: Path) -> None:
    """Among photos with like names, in a folder and in a zip."""
    others = ["IMG(3).jpg", "IMG(12) b.jpg", f"{LONG}(7).jpg", "IMG.mp4.json", "metadata.json"]
    others += [name for name in ("IMG.jpg", "IMG(1).jpg", f"{LONG}.jpg") if name != picture]
    for name in [picture, beside, *others]:
        (tmp_path / name).write_bytes((SAMPLES / FERRY).read_bytes() if name.endswith(".jpg") else b"{}")
    scope = ListingScope(tmp_path)
    source = Source.model_validate({"name": "photos", "kind": "photos", "path": "photos"})
    units = list_units(scope, KINDS["photos"], source, lambda file: False).units
    companions = {unit.path: [file.name for file in unit.companions] for unit in units if isinstance(unit, Unit)}
    assert {path: names for path, names in companions.items() if names} == {picture: [beside]}
    sidecar = orjson.dumps({"description": "On the ferry", "photoTakenTime": {"timestamp": "1691829660"}})
    members = {name: (tmp_path / name).read_bytes() for name in (picture, *others) if name.endswith(".jpg")}
    if beside.endswith(".json"):
        records, _ = read("photos", packed(tmp_path / "a.zip", members | {beside: sidecar}))
        assert [record.file_name for record in records if "On the ferry" in record.text] == [picture]
