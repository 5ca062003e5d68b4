"""A folder as people have it: exports of every kind as they were downloaded, loose, in folders and in zips.

All is made of examples/samples and of short texts below, so that the number of records of each kind is known.
"""

from __future__ import annotations

import io
import shutil
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from tests import ROOT, repositories, whatsapp_databases

SAMPLES = ROOT / "examples" / "samples"
ARCHIVE = ROOT / "examples" / "archive"

_MBOX = """\
From 1788000000000000001@xxx Mon Mar 04 10:00:00 +0000 2024
X-GM-THRID: 1788000000000000001
Message-ID: <{name}-1@mail.example>
From: Petr Kolar <petr@kolar.example>
To: Dana Levi <dana@levi.example>
Date: Mon, 4 Mar 2024 11:00:00 +0100
Subject: {name} quince

The quince trees of the {name} arrive on Friday.

From 1788000000000000002@xxx Tue Mar 05 10:00:00 +0000 2024
Message-ID: <{name}-2@mail.example>
From: Dana Levi <dana@levi.example>
To: Petr Kolar <petr@kolar.example>
Date: Tue, 5 Mar 2024 11:00:00 +0100
Subject: Re: {name} quince

I will be at home.
"""
_ICS = """\
BEGIN:VCALENDAR
VERSION:2.0
PRODID:-//Google Inc//Google Calendar 70.9054//EN
BEGIN:VEVENT
DTSTART:20240412T080000Z
DTEND:20240412T090000Z
UID:{name}@google.example
SUMMARY:Dentist {name}
END:VEVENT
END:VCALENDAR
"""
_VCF = "BEGIN:VCARD\nVERSION:3.0\nFN:{name} Kolar\nTEL:+420601234567\nEND:VCARD\n"
_WATCHED = (
    '<html><body><div class="mdl-grid"><div class="outer-cell mdl-cell mdl-cell--12-col">'
    '<div class="content-cell">Watched <a href="https://www.youtube.com/watch?v=dQw4w9WgXcQ">a video</a>'
    "</div></div></div></body></html>"
)
_WHATSAPP = "13/03/2024, 18:00 - Dana Levi: The ladder is in the shed\n13/03/2024, 18:05 - {name}: I bring it back\n"


@dataclass(frozen=True)
class TakeoutNames:
    """What Takeout calls its folders in one language."""

    mail: str
    calendar: str
    contacts: str
    drive: str
    activity: str
    youtube: str
    location: str
    photos: str


TAKEOUT_NAMES: Mapping[str, TakeoutNames] = {
    "en": TakeoutNames(
        "Mail",
        "Calendar",
        "Contacts",
        "Drive",
        "My Activity",
        "YouTube and YouTube Music",
        "Location History (Timeline)",
        "Google Photos",
    ),
    "de": TakeoutNames(
        "E-Mail",
        "Kalender",
        "Kontakte",
        "Google Ablage",
        "Meine Aktivitäten",
        "YouTube und YouTube Music",
        "Standortverlauf (Zeitachse)",
        "Google Fotos",
    ),
    "es": TakeoutNames(
        "Correo",
        "Calendario",
        "Contactos",
        "Unidad",
        "Mi actividad",
        "YouTube y YouTube Music",
        "Historial de ubicaciones (Rutas)",
        "Google Fotos",
    ),
    "fr": TakeoutNames(
        "Messages",
        "Agenda",
        "Contacts",
        "Disque",
        "Mon activité",
        "YouTube et YouTube Music",
        "Historique des positions (Vos trajets)",
        "Google Photos",
    ),
}


def takeout(language: str = "en") -> dict[str, bytes]:
    """The files of a Takeout by their paths, with the folder names of a language."""
    names, files = TAKEOUT_NAMES[language], dict[str, bytes]()

    def add(path: str, content: str | bytes) -> None:
        files[f"Takeout/{path}"] = content.encode() if isinstance(content, str) else content

    add("archive_browser.html", "<html><head><title>Your archive</title></head><body>Files</body></html>")
    add(f"{names.mail}/All mail Including Spam and Trash.mbox", _MBOX.format(name=f"orchard-{language}"))
    add(f"{names.mail}/User Settings/Filters.json", '{"filter": []}')
    add(f"{names.calendar}/dana@levi.example.ics", _ICS.format(name=f"tooth-{language}"))
    add(f"{names.contacts}/All Contacts/All Contacts.vcf", _VCF.format(name="Ota"))
    add(f"{names.drive}/Lease.docx", (ARCHIVE / "documents/work/user-service-plan.docx").read_bytes())
    add(f"{names.drive}/House/inventory.pdf", (ARCHIVE / "documents/invoices/INV-1187.pdf").read_bytes())
    add(f"{names.activity}/Search/MyActivity.html", _WATCHED.replace("youtube.com/watch", "google.com/search"))
    add(f"{names.youtube}/history/watch-history.html", _WATCHED)
    add(f"{names.youtube}/subscriptions/subscriptions.csv", "Channel Id,Channel Url,Channel Title\nUC1,http://x,A\n")
    add(f"{names.location}/Records.json", '{"locations": [{"latitudeE7": 500000000, "longitudeE7": 144000000}]}')
    for sample, folder in (("notes/Takeout/Keep", "Keep"), ("google_chat/Takeout/Google Chat", "Google Chat")):
        for file in sorted((SAMPLES / sample).rglob("*")):
            if file.is_file():
                add(f"{folder}/{file.relative_to(SAMPLES / sample).as_posix()}", file.read_bytes())
    add("Tasks/Tasks.json", (SAMPLES / "tasks/Tasks.json").read_bytes())
    for file in sorted((SAMPLES / "photos/Google Photos").rglob("*.*")):
        add(f"{names.photos}/{file.relative_to(SAMPLES / 'photos/Google Photos').as_posix()}", file.read_bytes())
    return files


def zipped(files: Mapping[str, bytes]) -> bytes:
    """A zip of files."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for path, content in files.items():
            archive.writestr(zipfile.ZipInfo(path, (2024, 3, 10, 12, 0, 0)), content, zipfile.ZIP_DEFLATED)
    return buffer.getvalue()


def make(folder: Path) -> None:
    """Writes the folder."""

    def put(path: str, content: str | bytes) -> None:
        file = folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content.encode() if isinstance(content, str) else content)

    def copy(sample: str, path: str) -> None:
        if (SAMPLES / sample).is_dir():
            shutil.copytree(SAMPLES / sample, folder / path)
        else:
            put(path, (SAMPLES / sample).read_bytes())

    _put_takeouts(put)
    put("Downloads/WhatsApp Chat with Ota.txt", _WHATSAPP.format(name="Ota"))
    put("Downloads/WhatsApp Chat - Eva.zip", zipped({"_chat.txt": _WHATSAPP.format(name="Eva").encode()}))
    put("Downloads/phone backup.zip", _phone_backup())
    copy("slack", "Downloads/slack")
    copy("telegram/ChatExport_2024-03-09", "Downloads/Telegram Desktop/ChatExport_2024-03-09")
    copy("sms/sms-20240310.xml", "Downloads/sms-20240310.xml")
    for statement in ("umsaetze.csv", "vypis.csv", "statement.csv", "checking.ofx", "camt053.xml"):
        copy(f"bank/{statement}", f"Downloads/{statement}")
    copy("calendar/rodina.ics", "Downloads/rodina.ics")
    put("Downloads/contacts.vcf", _VCF.format(name="Eva"))
    put("Downloads/INV-1187_corrected.pdf", (ARCHIVE / "documents/invoices/INV-1187_corrected.pdf").read_bytes())
    put("Downloads/saved.eml", (ARCHIVE / "mail/saved/contract-v2.eml").read_bytes())
    put("Downloads/broken.pdf", b"this was never a PDF")
    put("Downloads/report.pages", b"PK\x03\x04 pages")
    put("Downloads/music.tgz", b"\x1f\x8b\x08 tar")
    copy("notes/vault", "Documents/vault")
    copy("signal/export", "Documents/signal")
    copy("messenger", "Documents/facebook")
    copy("instagram", "Documents/instagram")
    copy("discord", "Documents/discord")
    copy("teams/messages.json", "Documents/teams/messages.json")
    copy("imessage", "Documents/Messages")
    copy("twitter", "Downloads/twitter-2024-03-08")
    copy("notes/Joplin/kitchen.jex", "Documents/kitchen.jex")
    copy("notes/Kindle/My Clippings.txt", "Documents/My Clippings.txt")
    copy("sms/Takeout/Voice", "Documents/Voice")
    linkedin = {file.name: file.read_bytes() for file in (SAMPLES / "linkedin").iterdir()}
    put("Downloads/Basic_LinkedInDataExport.zip", zipped(linkedin))
    copy("ai_chat", "Documents/assistants")
    copy("photos/Chata", "Pictures/Chata")
    put("Mail/profile/Mail/Local Folders/Inbox", _MBOX.format(name="thunderbird"))
    put("Mail/profile/Mail/Local Folders/Inbox.msf", '// <!-- <mdb:mork:z v="1.4"/> -->')
    put("Mail/profile/Mail/Local Folders/Trees", _MBOX.format(name="trees"))
    put("Mail/profile/Mail/Local Folders/Trees.msf", '// <!-- <mdb:mork:z v="1.4"/> -->')
    put("Mail/old.mbox", _MBOX.format(name="old"))
    recording = ARCHIVE / "calls/Call_recording_Doron_Levi_241216_083102.m4a"
    put("Recordings/Dana_240304_101500.m4a", recording.read_bytes())
    put("Recordings/Dana_240304_101500.vtt", "WEBVTT\n\n00:00:01.000 --> 00:00:04.000\n<v Dana>The pump is repaired\n")
    put("Meetings/2024-03-11.txt", (ARCHIVE / "meetings/meeting-2025-01-08.txt").read_bytes())
    put(
        "Documents/items.jsonl",
        '{"id": "i1", "text": "A line of another source", "timestamp": "2024-03-02T08:00:00Z"}\n',
    )
    (folder / "Phone").mkdir()
    whatsapp_databases.msgstore(folder / "Phone", [whatsapp_databases.message(1, "The key is under the pot")])
    (folder / "projects").mkdir()
    site = repositories.make(folder / "projects" / "site")
    repositories.commit(site, "plant a quince", {"app.py": "def plant() -> str:\n    return 'quince'\n"})


def _put_takeouts(put: object) -> None:
    assert callable(put)
    files = takeout("de")
    parts = sorted(files)
    first = {path: files[path] for path in parts if not path.endswith(".supplemental-metadata.json")}
    second = {path: files[path] for path in parts if path not in first}
    put("Downloads/takeout-20240310T101010Z-001.zip", zipped(first))
    put("Downloads/takeout-20240310T101010Z-002.zip", zipped(second))


def _phone_backup() -> bytes:
    """A zip that holds zips and files of several kinds."""
    chat = zipped({"_chat.txt": _WHATSAPP.format(name="Petr").encode()})
    lease, card = b"The lease of the workshop ends in May.", _VCF.format(name="Ben").encode()
    inner = zipped({"letters/lease.txt": lease, "cards.vcf": card})
    return zipped(
        {
            "WhatsApp Chat - Petr.zip": chat,
            "old phone.zip": inner,
            "mail/archive.mbox": _MBOX.format(name="backup").encode(),
            "notes/plan.md": b"# Plan\n\nPaint the fence in June.\n",
        }
    )
