"""One mail is forgotten that others quote as mail programs do, each in its own manner: what goes, and what stays."""

import re
from pathlib import Path

import orjson
import pytest

from relrag_pipelines.erasure import byte_search, purge
from tests.end_to_end.test_mail_archive import Archive

FIRST = "Shall we go on with the new website, and what would you like to pay for it?"
SECRET = """\
Hello Jan,

We agreed on the price of 8,400 for the website and the logo, to be paid in two parts by the end of May.
Please keep it between the two of us, because Petr was promised less than half of that for the shop.
Smluvní pokutu jsem nakonec nechala vyškrtnout, protože by ji stejně nikdo nezaplatil.
החוזה נשמר אצל עורכת הדין בתל אביב עד סוף השנה.

Thank you
Best regards
Eva"""
OTHER = "Hello Jan,\n\nThe fair begins on Monday.\n\nThank you\nBest regards\nEva"
BEGIN = "On Mon, 6 Jan 2025 at 08:40, Eva Novak <eva@host.example> wrote:\n"


def marked(text: str) -> str:
    return re.sub("^", "> ", text, flags=re.MULTILINE)


GMAIL = (
    f"Gladly.\n\n{BEGIN}{marked(SECRET)}\n>\n> On Sun, 5 Jan 2025 at 10:00, Jan <jan@host.example> wrote:\n>> {FIRST}"
)
OUTLOOK = f"""\
Noted.

From: Eva Novak <eva@host.example>
Sent: Monday, January 6, 2025 8:40 AM
To: Jan <jan@host.example>
Subject: the website

{SECRET}

From: Jan <jan@host.example>
Sent: Sunday, January 5, 2025 10:00 AM
To: Eva Novak <eva@host.example>
Subject: the website

{FIRST}"""
WRAPPED = f"""\
I have asked her.

On Tue, 7 Jan 2025 at 09:00, Jan <jan@host.example> wrote:
> Gladly.
>
> {BEGIN.strip()}
>> We agreed on the price of 8,400 for the website and the logo, to be
> paid in two
>> parts by the end of May.
>> Please keep it between the two of us, because Petr was promised less
> than half
>> of that for the shop.
> I am glad of it.
"""
SHORTENED = f"""\
Yes to both.

{BEGIN}> We agreed on the pri...
> Please keep it between the two of us, because Petr was pro...
> Smluvní pokutu jsem na...
> החוזה נשמר אצל...
> Thank you..."""
INTERLEAVED = f"""\
{BEGIN}> We agreed on the price of 8,400

Yes, we did.

> [...] to be paid in two parts

No, in three parts.

> Petr was promised less [...]

I told him that we agreed on the price of 8,400 for the website.
"""
HTML = f"""\
<p>As you like.</p><div>On Mon, 6 Jan 2025 at 08:40, Eva Novak &lt;eva@host.example&gt; wrote:</div>
<blockquote type="cite"><p>We agreed on the <b>price</b> of 8,400 for the website</p><p>Petr was promised less</p>
<blockquote type="cite"><p>{FIRST}</p></blockquote></blockquote>"""
HEBREW = f"""\
בשמחה, נדבר מחר.

בתאריך יום ב׳, 6 בינו׳ 2025 ב-8:40 מאת Eva Novak <eva@host.example>:
> החוזה נשמר אצל עורכת הדין
> We agreed on the price
> > {FIRST}"""
CZECH = """\
Dobře, děkuji.

Dne 6. 1. 2025 v 8:40 Eva Novak <eva@host.example> napsal(a):
> Smluvní pokutu jsem nakonec nechala
> vyškrtnout, protože by ji stejně nikdo nezap
> A co ta druhá smlouva, platí?"""
PASSED_ON = f"""\
For your files.

---------- Forwarded message ---------
From: Eva Novak <eva@host.example>
Date: Mon, 6 Jan 2025 at 08:40
Subject: the website
To: <jan@host.example>

{SECRET}"""
DEEPER = f"""\
Fine with me.

On Wed, 8 Jan 2025 at 11:00, Petr <petr@host.example> wrote:
> I have asked her.
>> Gladly.
>>> Please keep it between the two...
>>> {FIRST}"""
TO_OTHER = f"Thanks.\n\n{BEGIN}{marked(OTHER)}"
STRANGER = "See below.\n\nPetr wrote:\n> We agreed on the date.\n> Please keep it between the shelves.\n> Best regards"
HEADLESS = f"So he says.\n\n{BEGIN}> We agreed on the price..."

MAILS = {
    "first": (FIRST, ""),
    "secret": (f"{SECRET}\n\nOn Sun, 5 Jan 2025 at 10:00, Jan <jan@host.example> wrote:\n> {FIRST}", "first"),
    "other": (OTHER, ""),
    "gmail": (GMAIL, "first secret"),
    "outlook": (OUTLOOK, "first secret"),
    "wrapped": (WRAPPED, "first secret gmail"),
    "shortened": (SHORTENED, "secret"),
    "interleaved": (INTERLEAVED, "secret"),
    "html": (HTML, "secret"),
    "hebrew": (HEBREW, "secret"),
    "czech": (CZECH, "secret"),
    "passed": (PASSED_ON, "secret"),
    "deeper": (DEEPER, "secret gmail wrapped"),
    "to_other": (TO_OTHER, "secret other"),
    "stranger": (STRANGER, ""),
    "headless": (HEADLESS, ""),
}
LEFT = {
    "first": ("", ""),
    "other": ("", ""),
    "gmail": (f"> On Sun, 5 Jan 2025 at 10:00, Jan <jan@host.example> wrote:\n>> {FIRST}", ""),
    "outlook": (OUTLOOK[OUTLOOK.index("From: Jan") :], ""),
    "wrapped": (
        WRAPPED[WRAPPED.index("On Tue") : WRAPPED.index(">> We agreed")] + "> I am glad of it.",
        "",
    ),
    "shortened": ("", ""),
    "interleaved": ("", ""),
    "html": (f"{BEGIN}\n> > {FIRST}", ""),
    "hebrew": (HEBREW[HEBREW.index("בתאריך") : HEBREW.index("> החוזה")] + f"> > {FIRST}", ""),
    "czech": (CZECH[CZECH.index("Dne 6.") : CZECH.index("> Smluvní")] + "> A co ta druhá smlouva, platí?", ""),
    "passed": ("", ""),
    "deeper": (DEEPER[DEEPER.index("On Wed") : DEEPER.index(">>> Please")] + f">>> {FIRST}", ""),
    "to_other": (f"{BEGIN}{marked(OTHER)}", ""),
    "stranger": (STRANGER[STRANGER.index("Petr wrote") :], ""),
    "headless": (f"{BEGIN}> We agreed on the price...", ""),
}
"""what each mail still quotes, and passes on"""
SAID = ("8,400", "to be paid in two", "Petr was pro", "Smluvní pok", "החוזה נשמר", "logo", "nezap")


def write(archive: Archive, name: str, text: str, above: str) -> None:
    head = f"Message-ID: <{name}@host.example>\nDate: 6 Jan 2025 08:40:00 +0000\nFrom: {name}@host.example\n"
    if above:
        ids = [f"<{one}@host.example>" for one in above.split()]
        head += f"In-Reply-To: {ids[-1]}\nReferences: {' '.join(ids)}\n"
    kind = "html" if text.startswith("<p>") else "plain"
    head += f"Subject: the website\nContent-Type: text/{kind}; charset=utf-8\nContent-Transfer-Encoding: 8bit\n"
    (archive.mails / f"{name}.eml").write_text(f"{head}\n{text}\n", encoding="utf-8")


@pytest.fixture
def archive(tmp_path: Path) -> Archive:
    archive = Archive(tmp_path)
    for name, (text, above) in MAILS.items():
        write(archive, name, text, above)
    archive.export()
    return archive


def left(archive: Archive) -> dict[str, tuple[str, str]]:
    """What each mail quotes and passes on, by its sender."""
    apart = {row["from"].partition("@")[0]: orjson.loads(row["extra"]).get("apart", {}) for row in archive.rows()}
    return {name: (parts.get("quoted", ""), parts.get("forwarded", "")) for name, parts in apart.items()}


def own(archive: Archive) -> dict[str, str]:
    return {row["from"]: row["text"] for row in archive.rows() if row["from"] != "secret@host.example"}


def forget(archive: Archive) -> None:
    archive.forget(*(row["asset_id"] for row in archive.rows() if row["from"].startswith("secret")))


def test_what_each_program_left_of_it_goes_and_everything_else_stays(archive: Archive) -> None:
    before = own(archive)
    forget(archive)
    assert left(archive) == LEFT
    assert own(archive) == before
    # only a mail's own words still say it
    holding = [row["from"] for row in archive.rows() if any(said in str(row) for said in SAID)]
    assert holding == ["interleaved@host.example"]


def test_it_stays_so_after_every_later_sync_until_it_is_taken_back(archive: Archive) -> None:
    before = archive.rows()
    forget(archive)
    for full in (False, True):
        archive.export(full=full)
        assert left(archive) == LEFT
    late = SHORTENED.replace("Yes to both", "I was away")
    write(archive, "late", late, "secret")
    archive.export()
    assert left(archive) == LEFT | {"late": ("", "")}
    assert len(byte_search.search(archive.workspace.home / "private" / "records", ["Smluvní pok"]).holding) == 0
    (archive.mails / "late.eml").unlink()
    purge.undo(archive.workspace, 1)
    archive.export()
    assert archive.rows() == before
