"""The table of kinds of sources. Each row declares everything that other modules need to know of its kind."""

from __future__ import annotations

from typing import Any

from relrag_pipelines.sources.kind import Kind, RecordType

_PARSER = ("parser_max_seconds", "parser_max_bytes")
"""options of kinds whose files a library parses: a file whose parsing was stopped is read again when a limit changes"""
_OCR = ("ocr", "ocr_languages")
"""options of kinds in whose files pictures and scanned pages lie"""
_TRANSCRIPTION = ("transcription_model", "transcription_max_seconds", "transcription_max_bytes")

AUDIO = (".m4a", ".mp3", ".wav", ".ogg", ".opus", ".oga", ".amr", ".aac", ".3gp", ".flac", ".wma", ".mp4", ".webm")
TRANSCRIPTS = (".vtt", ".srt", ".sbv", ".json", ".txt")
"""suffixes of transcripts; if a call has several, the first in this order is read"""

_OFFICE = (
    *(".docx", ".docm", ".xlsx", ".xlsm", ".pptx", ".ppsx", ".odt", ".ods", ".odp", ".epub"),
    *(".doc", ".xls", ".ppt", ".rtf"),
)

_MESSAGE = RecordType(
    "whatsapp",
    "message",
    wording="chat",
    channel="whatsapp",
    identifier="whatsapp",
    chat=True,
    told_by_sender=True,
)

_CHATS = "chat"
"""redaction policy of chats"""
_CHAT_OPTIONS = ("timezone", *_OCR)
"""options of kinds of chats whose exports hold pictures"""


def _chat_types(kind: str) -> tuple[RecordType, RecordType]:
    """The types of a kind of chats: its messages, and the files sent with them."""
    message = RecordType(
        kind,
        "message",
        wording="chat",
        channel=_CHATS,
        chat=True,
        told_by_sender=True,
    )
    name = f"{kind}_attachment"
    return message, RecordType(name, "attachment of a chat", "attachments of a chat", channel=_CHATS, part_of=kind)


def _chat_kind(name: str, meaning: str, version: int, suffixes: tuple[str, ...], **declared: Any) -> Kind:
    """A kind that reads exports of chats, which may overlap; other files have their suffixes too."""
    usual: dict[str, Any] = {"allows_duplicates": True, "shared_suffixes": True, "mutable": True}
    return Kind(name, meaning, version, suffixes, _chat_types(name), _CHATS, **(usual | declared))


_CALL = RecordType(
    "call_recording",
    "call",
    wording="call",
    channel="call_recording",
    spoken=True,
)
_MEETING = RecordType(
    "meeting_transcript",
    "meeting",
    wording="meeting",
    label="meeting",
    about="A meeting: type=meeting; from=who took part; subj=its title; when=its date; file=its transcript; "
    "related=how many parts a long one has; index=which part, from 0.",
    spoken=True,
    passages_are_parts=True,
    from_all=True,
)
_RELATIONSHIP = RecordType("relationship", "relationship", about_people=True)
_DOCUMENT = RecordType(
    "documentation",
    "document",
    wording="document",
    from_file=True,
)
_COMMIT = RecordType(
    "git_history",
    "commit",
    wording="commit",
    label="commit",
    about="A commit of git: type=commit; from=its author; subj=the first line of its message; "
    "when=its date; commit=its hash.",
    from_address=True,
    details=True,
)
_CODE = RecordType("code", "piece of code", "pieces of code", from_file=True, details=True, verbatim=True)
_MAIL = RecordType(
    "email",
    "mail",
    about="A mail: type=email; from=its sender; subj=its subject; when=its date; related=how many files are attached; "
    "index=which part of a long mail, from 0.",
    wording="mail",
    channel="gmail",
    mail=True,
    passages_are_parts=True,
    told_by_sender=True,
)
_ATTACHMENT = RecordType(
    "email_attachment",
    "attachment",
    wording="attachment",
    channel="gmail",
    label="attachment[{index}]:{file}",
    about="An attachment: type=attachment[its place from 0]:its file name; from, subj and when are those of its mail.",
    part_of="email",
    told_by_sender=True,
)
_EVENT = RecordType(
    "calendar_event",
    "event",
    wording="event",
    channel="calendar",
    about="An event of a calendar: type=calendar_event; from=its organiser; to=who is invited; subj=its title; "
    "when=its beginning.",
)
_TASK = RecordType(
    "task",
    "task",
    wording="task",
    channel="calendar",
    about="A task: type=task; subj=what is to be done; when=when it is due.",
)
_NOTE = RecordType(
    "note",
    "note",
    wording="note",
    channel="notes",
    about="A note: type=note; subj=its title; when=when it was written or last changed; file=its file.",
    from_file=True,
)
_PAYMENT = RecordType(
    "bank_transaction",
    "payment",
    wording="payment",
    channel="bank",
    label="payment",
    about="A payment of a bank account: type=payment; from or to=the other side; subj=who and how much; when=its day.",
)
_PHOTO = RecordType(
    "photo",
    "photo",
    wording="photo",
    channel="photos",
    about="A photo, by what is stated of it: type=photo; subj=its caption; when=when it was taken; file=its file.",
)
_SCAN = RecordType(
    "paperless",
    "scanned document",
    wording="scan",
    channel="paperless",
)
"""types that several kinds read"""

KINDS = {
    kind.name: kind
    for kind in (
        Kind(
            "whatsapp",
            "WhatsApp: exported chats (.txt, .zip with media), the databases of Android and iOS; or a WAHA server",
            4,
            (".txt", ".zip"),
            (
                _MESSAGE,
                RecordType(
                    "whatsapp_attachment",
                    "attachment of a chat",
                    "attachments of a chat",
                    channel="whatsapp",
                    identifier="whatsapp",
                    part_of="whatsapp",
                ),
            ),
            "whatsapp",
            ("timezone", "date_order", "owner", *_OCR),
            patterns=("*msgstore*.db", "*msgstore*.db.crypt15", "*ChatStorage*.sqlite", "*.waha"),
            fetcher="whatsapp.waha_server",
            webhook="whatsapp.waha_webhook",
            url_schemes=("https", "http"),
            mirror_suffix=".waha",
            companions=(".db-wal", ".sqlite-wal"),
            references_siblings=(".txt", ".db"),  # what lies beside a chat, and the names in wa.db
            context_names=("wa.db", "wa.db.crypt15"),
            asks_others="date_order",
            ids_depend_on_names=True,
            media_names=r"(?:IMG|VID|PTT|AUD|STK|DOC|CON)-\d{8}-WA\d{4}\b"  # on Android, and on iOS
            r"|\d{8}-(?:PHOTO|VIDEO|AUDIO|STICKER|GIF|CONTACT|DOCUMENT)-\d{4}-",
            record_mark=b"\n",
            record_bytes=80,
            may_be_truncated=True,  # an export ends at 10,000 messages with media, at 40,000 without
        ),
        _chat_kind(
            "telegram",
            "chats exported from Telegram Desktop: result.json of a chat or of an account, pages of HTML, or a zip",
            2,
            (".json", ".html", ".htm", ".zip"),
            options=_CHAT_OPTIONS,
            record_bytes=400,
            references_below=True,
            context_names=("result.json",),
            references_units=True,
        ),
        _chat_kind(
            "slack",
            "Slack's workspace export: the zip, or its folder with a file for each channel and day",
            2,
            (".json", ".zip"),
            record_bytes=400,
            context_names=("users.json", "channels.json", "groups.json", "mpims.json", "dms.json"),
        ),
        _chat_kind(
            "messenger",
            'chats of Facebook Messenger: "Download your information" in JSON, as the zip or unpacked',
            3,
            (".json", ".zip"),
            options=_CHAT_OPTIONS,
            record_bytes=300,
            references_below=True,
        ),
        _chat_kind(
            "instagram",
            'direct messages of Instagram: "Download your information" in JSON, as the zip or unpacked',
            3,
            (".json", ".zip"),
            options=_CHAT_OPTIONS,
            record_bytes=300,
            references_below=True,
        ),
        _chat_kind(
            "sms",
            "SMS, MMS and calls: .xml or .zip of SMS Backup & Restore (Android), and Google Voice in Google Takeout",
            4,
            (".xml", ".html", ".zip"),
            options=(*_CHAT_OPTIONS, "owner"),
            record_bytes=300,
            references_below=True,
        ),
        _chat_kind(
            "signal",
            "chats of Signal: signal-export's data.json, what signal-cli receives, and the plaintext backup",
            3,
            (".json", ".jsonl", ".xml", ".zip"),
            options=(*_CHAT_OPTIONS, "owner"),
            record_bytes=300,
            references_below=True,
        ),
        _chat_kind(
            "imessage",
            "iMessage and SMS of a Mac: chat.db of Messages, with its attachments",
            1,
            (".db",),
            options=("owner", *_OCR),
            companions=(".db-wal",),
            record_bytes=600,
        ),
        _chat_kind(
            "teams",
            "chats of Microsoft Teams (free) and Skype: messages.json of the export of personal data, or the .tar",
            2,
            (".json", ".zip", ".tar"),
            record_bytes=500,
        ),
        _chat_kind(
            "discord",
            "channels and direct messages of Discord: JSON of DiscordChatExporter, and the data package",
            3,
            (".json", ".zip"),
            options=(*_CHAT_OPTIONS, "owner"),
            patterns=("*messages.csv",),
            context_names=("channel.json", "index.json", "user.json"),
            record_bytes=1500,
            references_below=True,
        ),
        _chat_kind(
            "google_chat",
            "Google Chat in Google Takeout: messages.json of each conversation, Hangouts.json, or the zip",
            3,
            (".json", ".zip"),
            options=_CHAT_OPTIONS,
            record_bytes=400,
            references_below=True,
            context_names=("group_info.json",),
        ),
        _chat_kind(
            "twitter",
            "posts and direct messages of X (Twitter): the archive of an account, as the zip or unpacked",
            1,
            (".zip",),
            options=(*_CHAT_OPTIONS, "owner"),
            patterns=("*tweet*.js", "*direct-message*.js"),
            record_bytes=1200,
            references_below=True,
            context_names=("account.js", "tweets.js", "tweet.js"),
        ),
        _chat_kind(
            "linkedin",
            "messages of LinkedIn: messages.csv of the copy of your data",
            1,
            ("messages.csv",),
            options=("timezone", "owner"),
            record_bytes=300,
            mutable=False,
        ),
        _chat_kind(
            "ai_chat",
            "conversations with ChatGPT and Claude, as both export them: conversations.json, or the zip",
            1,
            (".json", ".zip", ".html"),
            options=(*_CHAT_OPTIONS, "owner"),
            record_bytes=3000,
            references_below=True,
            context_names=("conversations.json",),
        ),
        Kind(
            "call_recording",
            "recorded calls: audio with its transcript beside it (.vtt, .srt, .sbv, .json of whisper, .txt)",
            2,
            (*AUDIO, *TRANSCRIPTS),
            (_CALL,),
            "call_recording",
            ("timezone", "owner", "file_names", "approval_required", *_TRANSCRIPTION, *_PARSER),
            companions=TRANSCRIPTS,
            single_process_option="transcription_model",
            shared_suffixes=True,
            sent_in_chats=True,
        ),
        Kind(
            "notes",
            "notes: Obsidian, Google Keep, Apple Notes, Evernote, Notion, Joplin, Kindle clippings; folders, or zips",
            5,
            (".enex", ".jex", ".md", ".markdown", ".txt", ".html", ".json", ".csv", ".zip"),
            (_NOTE,),
            "notes",
            ("timezone", *_PARSER),
            shared_suffixes=True,
            ids_depend_on_names=True,
            references_units=True,
            mutable=True,
            sent_in_chats=True,
        ),
        Kind(
            "meeting",
            "meetings: captions (.vtt, .srt, .sbv) or minutes (.txt, .md), with the invitation (.ics) beside them",
            3,
            (".vtt", ".srt", ".sbv", ".txt", ".md"),
            (_MEETING,),
            options=("timezone", *_PARSER),
            companions=(".ics",),
            sent_in_chats=True,
        ),
        Kind(
            "contacts",
            "vCard files (.vcf) of versions 2.1, 3 and 4, and tables (.csv) of LinkedIn, Google and Outlook",
            4,
            (".vcf", ".vcard", ".csv"),
            (
                RecordType("contact", "contact", tells="number", card=True, about_people=True),
                _RELATIONSHIP,
            ),
            record_bytes=200,
            sent_in_chats=True,
        ),
        Kind(
            "calendar",
            "calendars: .ics and .vcs files, and zips of them",
            3,
            (".ics", ".ical", ".vcs", ".zip"),
            (_EVENT, _TASK),
            "calendar",
            ("timezone", *_PARSER),
            record_mark=b"BEGIN:VEVENT",
            record_bytes=500,
            shared_suffixes=True,
            allows_duplicates=True,
            mutable=True,
            sent_in_chats=True,
            repeats=True,
        ),
        Kind(
            "tasks",
            "tasks: Tasks.json of Google Takeout, and calendars that hold tasks alone (.ics)",
            2,
            (".json", ".ics"),
            (_TASK,),
            "calendar",
            ("timezone", *_PARSER),
            record_bytes=300,
            shared_suffixes=True,
            allows_duplicates=True,
            mutable=True,
        ),
        Kind(
            "bank",
            "bank statements: CSV, CAMT (XML), OFX, QIF and MT940",
            2,
            (".csv", ".tsv", ".xml", ".ofx", ".qfx", ".qif", ".sta", ".940", ".mt940"),
            (_PAYMENT,),
            "bank",
            ("timezone", "date_order", *_PARSER),
            record_mark=b"\n",
            record_bytes=150,
            shared_suffixes=True,
            allows_duplicates=True,
        ),
        Kind(
            "paperless",
            "documents of Paperless-ngx: its server, or a folder of its document_exporter",
            1,
            ("manifest.json",),
            (_SCAN,),
            "paperless",
            _PARSER,
            discovers_units=True,
            fetcher="paperless.server",
            url_schemes=("https", "http"),
            mirror_suffix=".json",
        ),
        Kind(
            "document",
            "PDF, documents, tables and slides of office programs, books (EPUB), Markdown, HTML, text and CSV files",
            5,
            (".pdf", *_OFFICE, ".md", ".markdown", ".html", ".htm", ".txt", ".csv", ".tsv"),
            (_DOCUMENT,),
            options=("timezone", *_OCR, *_PARSER),
            one_record_per_unit=True,
            source_name="documents",
            any_text=True,
            sent_in_chats=True,
        ),
        Kind(
            "photos",
            "photos, by what they say of themselves: time, camera, captions, albums; Google Photos with its sidecars",
            2,
            (".jpg", ".jpeg", ".heic", ".heif", ".png", ".tif", ".tiff", ".webp", ".dng", ".zip"),
            (_PHOTO,),
            "photos",
            ("timezone", *_OCR, *_PARSER),
            companions=(".json", ".xmp"),
            pairs_companions=True,
            one_record_per_unit=True,
            shared_suffixes=True,
            ids_depend_on_names=True,
            sent_in_chats=True,
        ),
        Kind(
            "git",
            "commits of local git repositories, and saved logs of git (.gitlog)",
            1,
            (".gitlog",),
            (_COMMIT,),
            "git",
            (),
            repositories="history",
            discovers_units=True,
        ),
        Kind(
            "code",
            "source code in git repositories and folders: functions, classes and methods",
            1,
            (),
            (_CODE,),
            "code",
            _PARSER,
            record_bytes=600,
            repositories="files",
            discovers_units=True,
        ),
        Kind(
            "gmail",
            "mail: mailboxes (Takeout, Thunderbird, mbox), Maildir, .eml, .emlx, .msg, .pst, .ost; or Gmail by its API",
            5,
            (".mbox", ".eml", ".emlx", ".msg", ".pst", ".ost"),
            (
                _MAIL,
                _ATTACHMENT,
            ),
            "gmail",
            ("timezone", *_OCR, *_PARSER),
            source_name="mail",
            record_mark=b"\nFrom ",
            record_bytes=2_000,
            module="mail",
            patterns=tuple(
                prefix + name
                for prefix in ("", "*/")
                for name in ("cur/*", "new/*", "mbox", "Inbox", "Sent", "Drafts", "Archives")
            ),
            fetcher="mail.gmail_server",
            consents=True,
            url_schemes=("https", "http"),
            mirror_suffix=".eml",
            index_suffix=".msf",  # Thunderbird: of `Invoices`, with its subfolders in `Invoices.sbd`
            subfolder_suffix=".sbd",
            threads=True,
            allows_duplicates=True,
            appends=True,
        ),
        Kind(
            "imap",
            "mail on an IMAP server: Gmail, Fastmail, Dovecot, Exchange and others",
            1,
            (".eml",),
            (
                _MAIL,
                _ATTACHMENT,
            ),
            "gmail",
            ("timezone", *_OCR, *_PARSER),
            module="mail",
            threads=True,
            allows_duplicates=True,
            fetcher="mail.imap_server",
            url_schemes=("imaps", "imap"),
            mirror_suffix=".eml",
            always_remote=True,
            id_prefix="gmail",
            record_bytes=2_000,
        ),
        Kind(
            "legacy",
            "collections that an older system left in Qdrant, on a server or in a folder",
            3,
            ("storage.sqlite",),
            (
                RecordType("legacy", "older record"),
                *(_MESSAGE, _MAIL, _ATTACHMENT, _SCAN, _CALL, _MEETING, _COMMIT, _CODE, _DOCUMENT, _RELATIONSHIP),
            ),
            options=("timezone", "url", "collection"),
            record_bytes=2_000,
            discovers_units=True,
            backfills=True,
        ),
        Kind(
            "jsonl",
            "one JSON object a line with the universal fields: the door for any other source",
            2,
            (".jsonl", ".ndjson"),
            (
                RecordType("jsonl", "note"),
                _SCAN,
            ),
            ids_depend_on_names=True,
            own_ids=True,
            any_type=True,
            facts=True,
            record_mark=b"\n",
            record_bytes=300,
        ),
    )
}

RECORD_TYPES = {record_type.name: record_type for kind in KINDS.values() for record_type in kind.record_types}

MAIL_REF = next(f"{kind.name}:" for kind in KINDS.values() if kind.mail)
"""prefix of a Message-ID in the id of a mail"""
COMMIT_REF = next(f"{kind.name}:" for kind in KINDS.values() if kind.repositories == "history")
"""prefix of the hash in the id of a commit"""


def record_type(name: str) -> RecordType:
    """The declaration of a type of records; an undeclared type has only its name."""
    return RECORD_TYPES.get(name) or RecordType(name)
