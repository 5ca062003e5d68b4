"""How mail programs of six languages introduce history, sign and forward: what each of them writes, and what only
looks like it.
"""

import pytest

from relrag_pipelines.sources.mail.html_body import to_text
from relrag_pipelines.sources.mail.segmentation import segment


def parts(text: str, subject: str = "") -> list[tuple[str, str]]:
    found = segment(text, subject)
    assert "".join(text[span.start : span.end] for span in found.spans) == text
    return [(span.kind, text[span.start : span.end].strip()) for span in found.spans]


def quoting(text: str) -> str:
    return "\n".join(f"> {line}".rstrip() for line in text.split("\n"))


HISTORY = "On Wed, 15 Jan 2025 at 10:12, Dana Levi <dana@host.example> wrote:"
INTRODUCTIONS = [
    "On Wed, 15 Jan 2025 at 10:12, Dana Levi <dana@host.example> wrote:",
    "On Wed, Jan 15, 2025 at 10:12 AM Dana Levi <dana@host.example> wrote:",
    "On Wed, Jan 15, 2025 at 10:12\u202fAM Dana Levi <dana@host.example> wrote:",
    "On 15 January 2025 10:12, Dana Levi <dana@host.example> wrote:",
    "On Wed, Jan 15, 2025 at 10:12 AM Dana Levi <\ndana.levi.of.a.long.address@host.example> wrote:",
    ("On Wed, Jan 15, 2025 at 10:12 AM Dana Maria Theresia\nLevi-Schwarzenberg <dana@host.example>\nwrote:"),
    "On Wed, Jan 15, 2025 at 10:12 AM Dana <dana@host.example<mailto:dana@host.example>> wrote:",
    "Am Mi., 15. Jan. 2025 um 10:12 Uhr schrieb Dana Levi <\ndana@host.example>:",
    "Le mer. 15 janv. 2025 à 10:12, Dana Levi <dana@host.example> a\nécrit :",
    "Le 15 janvier 2025 à 10:12, Dana Levi <dana@host.example> a écrit :",
    "El mié, 15 ene 2025 a las 10:12, Dana Levi (<dana@host.example>)\nescribió:",
    "El mié., 15 de enero de 2025 10:12 a. m., Dana Levi <dana@host.example>\nescribió:",
    "st 15. 1. 2025 v 10:12 odesílatel Dana Levi <dana@host.example>\nnapsal:",
    "Dne st 15. 1. 2025 10:12 uživatel Dana Levi <dana@host.example> napsal:",
    "čt 16. 1. 2025 v 9:02 odesílatel Dana Levi <dana@host.example> napsal(a):",
    (
        "\u202bבתאריך יום ד׳, 15 בינו׳ 2025 ב-10:12 מאת \u202aDana Levi\u202c\u200f "
        "<\u202adana@host.example\u202c\u200f>:\u202c"
    ),
    (
        "\u202bבתאריך יום ד׳, 15 בינו׳ 2025 ב-10:12 מאת \u202aDana Levi\u202c\u200f <\u202a\n"
        "dana@host.example\u202c\u200f>:\u202c"
    ),
    "2025-01-15 10:12 GMT+02:00 דנה לוי <dana@host.example>:",
    "\u202bבתאריך 15 בינואר 2025 בשעה 10:12, מאת דנה לוי <dana@host.example>:\u202c",
    "On 15 Jan 2025, at 10:12, Dana Levi <dana@host.example> wrote:",
    "On Jan 15, 2025, at 10:12 AM, Dana Levi via Lists <lists@host.example> wrote:",
    "Am 15.01.2025 um 10:12 schrieb Dana Levi <dana@host.example>:",
    "Am 15.01.2025 um 10:12 schrieb Dana Levi\n<dana.levi@a-rather-long-host.example>:",
    "Le 15 janv. 2025 à 10:12, Dana Levi <dana@host.example> a écrit :",
    "Le 15 janv. 2025 à 10:12, Dana Levi <dana@host.example> a écrit\xa0:",
    "El 15 ene 2025, a las 10:12, Dana Levi <dana@host.example> escribió:",
    "15. 1. 2025 v 10:12, Dana Levi <dana@host.example>:",
    "Dne 15. 1. 2025 v 10:12, Dana Levi <dana@host.example> napsal(a):",
    (
        "\u200fב-15 בינו׳ 2025, בשעה 10:12, \u200f\u2066Dana Levi\u2069\u200f "
        "\u200f<\u2066dana@host.example\u2069>\u200f כתב/ה:"
    ),
    "ב-15 בינו׳ 2025, בשעה 10:12, Dana Levi <dana@host.example> כתב:",
    "On 15/01/2025 10:12, Dana Levi wrote:",
    "On 2025-01-15 10:12, Dana Levi wrote:",
    "On 1/15/2025 10:12 AM, Dana Levi wrote:",
    "On 1/15/25 10:12 AM, Dana Levi wrote:",
    "Am 15.01.2025 um 10:12 schrieb Dana Levi:",
    "Am 15.01.25 um 10:12 schrieb Levi, Dana:",
    "Le 15/01/2025 à 10:12, Dana Levi a écrit :",
    "El 15/01/2025 a las 10:12, Dana Levi escribió:",
    "Dne 15.01.2025 v 10:12 Dana Levi napsal(a):",
    "Dne 15. 01. 25 v 10:12 Dana Levi napsal(a):",
    "בתאריך 15/01/2025 10:12, Dana Levi כתב:",
    "בתאריך 15.1.2025 בשעה 10:12, דנה לוי כתב:",
    "ב־15/01/2025 10:12, דנה לוי כתב/ה:",
    "On Wednesday, January 15, 2025 at 10:12:33 AM GMT+2, Dana Levi <dana@host.example> wrote:",
    ("Am Mittwoch, 15. Januar 2025, 10:12:33 MEZ hat Dana Levi <dana@host.example> Folgendes geschrieben:"),
    "Le mercredi 15 janvier 2025 à 10:12:33 UTC+1, Dana Levi <dana@host.example> a écrit :",
    "En miércoles, 15 de enero de 2025, 10:12:33 CET, Dana Levi <dana@host.example> escribió:",
    "On Wednesday, January 15th, 2025 at 10:12 AM, Dana Levi <dana@host.example> wrote:",
    ("‐‐‐‐‐‐‐ Original Message ‐‐‐‐‐‐‐\nOn Wednesday, January 15, 2025 10:12 AM, Dana <dana@host.example> wrote:"),
    "On Wed, Jan 15, 2025 at 10:12:33AM +0200, Dana Levi wrote:",
    "On Wednesday, 15 January 2025 10:12:33 CET Dana Levi wrote:",
    "Am Mittwoch, 15. Januar 2025, 10:12:33 CET schrieb Dana Levi:",
    'On Wed, Jan 15, 2025 at 10:12 AM +0200, "Dana Levi" <dana@host.example> wrote:',
    "Am 2025-01-15 10:12, schrieb Dana Levi:",
    "Dne 2025-01-15 10:12, Dana Levi napsal(a):",
    "Le 2025-01-15 10:12, Dana Levi a écrit :",
    "El 2025-01-15 10:12, Dana Levi escribió:",
    "On Jan 15 2025, at 10:12 am, Dana Levi <dana@host.example> wrote:",
    "On January 15, 2025, 10:12 AM GMT+2 dana@host.example wrote:",
    "On 15 Jan 2025 at 10:12 +0200, Dana Levi <dana@host.example>, wrote:",
    "Am 15. Jan. 2025, 10:12 +0100 schrieb Dana Levi <dana@host.example>:",
    "---- On Wed, 15 Jan 2025 10:12:33 +0200 Dana Levi <dana@host.example> wrote ---",
    "Le mer. 15 janv. 2025 10:12, Dana Levi <dana@host.example> a écrit :",
    "Le 15.01.2025 10:12, Dana Levi a écrit :",
    "Am 15. Januar 2025 10:12:33 MEZ schrieb Dana Levi <dana@host.example>:",
    "On January 15, 2025 10:12:33 AM GMT+02:00, Dana Levi <dana@host.example> wrote:",
    "Dne 15. ledna 2025 10:12:33 SEČ, Dana Levi <dana@host.example> napsal:",
    "Le 15 janvier 2025 10:12:33 GMT+01:00, Dana Levi <dana@host.example> a écrit :",
    "El 15 de enero de 2025 10:12:33 CET, Dana Levi <dana@host.example> escribió:",
    "On Jan 15, 2025, at 10:12 AM, Dana Levi <dana@host.example> wrote:",
    "El mié, 15 ene 2025 a las 10:12, Dana Levi (<dana@host.example>) escribió:",
    "El día mié, 15 de ene. de 2025 a la(s) 10:12, Dana Levi (dana@host.example)\nescribió:",
    "Dana Levi <dana@host.example> píše v St 15. 01. 2025 v 10:12 +0100:",
    "On Wed, 2025-01-15 at 10:12 +0200, Dana Levi wrote:",
    "Am Mittwoch, dem 15.01.2025 um 10:12 +0100 schrieb Dana Levi:",
    "Le mercredi 15 janvier 2025 à 10:12 +0100, Dana Levi a écrit :",
    "El mié, 15-01-2025 a las 10:12 +0100, Dana Levi escribió:",
]
"""of Gmail, Apple Mail, Thunderbird, Yahoo, Proton, Roundcube, KMail, K-9, Spark, Evolution and others"""


@pytest.mark.parametrize("introduction", INTRODUCTIONS)
def test_introductions(introduction: str) -> None:
    bare = f"{introduction}\n\nWhen is it?\nDana"
    assert parts(f"Friday then.\n\n{bare}\n") == [("fresh", "Friday then."), ("quoted", bare)]
    for gap in ("\n", "\n\n"):
        quoted = f"{introduction}{gap}{quoting('When is it?')}"
        assert parts(f"Friday then.\n\n{quoted}\n") == [("fresh", "Friday then."), ("quoted", quoted)]
        assert parts(f"{quoted}\n\nFriday then.\n") == [("quoted", quoted), ("fresh", "Friday then.")]
    deeper = f"{HISTORY}\n> Which day?\n>\n{quoting(introduction)}\n>> When?"
    assert parts(f"Friday then.\n\n{deeper}\n") == [("fresh", "Friday then."), ("quoted", deeper)]


@pytest.mark.parametrize(
    "introduction",
    [
        "Dana Levi <dana@host.example> writes:",
        "On Wed, 15 Jan 2025, Dana Levi wrote:",
        "Dana Levi <dana@host.example> wrote on 15/01/2025 10:12:33:",
    ],
)
def test_introductions_that_say_too_little_without_a_quotation(introduction: str) -> None:
    quoted = f"{introduction}\n\n> When is it?"
    assert parts(f"Friday then.\n\n{quoted}\n") == [("fresh", "Friday then."), ("quoted", quoted)]


HEADERS = [
    (
        "---------- Původní e-mail ----------\n"
        "Od: Dana Levi <dana@host.example>\n"
        "Komu: ota@host.example\n"
        "Datum: 15. 1. 2025 10:12:33\n"
        "Předmět: Re: Čerpadlo"
    ),
    (
        "---------- Původní e-mail ----------\n"
        "Od: Dana Levi <dana@host.example>\n"
        "Datum: 15. 1. 2025 v 10:12\n"
        "Předmět: Čerpadlo"
    ),
    (
        "Gesendet: Mittwoch, 15. Januar 2025 um 10:12 Uhr\n"
        'Von: "Dana Levi" <dana@host.example>\n'
        "An: ota@host.example\n"
        "Betreff: Re: Pumpe"
    ),
    (
        "-----Ursprüngliche Nachricht-----\n"
        "Von: Dana Levi <dana@host.example>\n"
        "Gesendet: Mittwoch, 15. Januar 2025 10:12\n"
        "An: Ota\n"
        "Betreff: Pumpe"
    ),
    (
        "-------- Original message --------\n"
        "From: Dana Levi <dana@host.example>\n"
        "Date: 15/01/2025 10:12 (GMT+02:00)\n"
        "To: Ota <ota@host.example>\n"
        "Subject: Re: pump"
    ),
    (
        "-------- Ursprüngliche Nachricht --------\n"
        "Von: Dana Levi <dana@host.example>\n"
        "Datum: 15.01.25 10:12 (GMT+01:00)\n"
        "An: Ota\n"
        "Betreff: Re: pump"
    ),
    (
        "-------- Původní zpráva --------\n"
        "Od: Dana Levi <dana@host.example>\n"
        "Datum: 15.01.25 10:12 (GMT+01:00)\n"
        "Komu: Ota\n"
        "Předmět: Re: pump"
    ),
    (
        "-------- Message d'origine --------\n"
        "De : Dana Levi <dana@host.example>\n"
        "Date : 15/01/2025 10:12 (GMT+01:00)\n"
        "À : Ota\n"
        "Objet : Re: pump"
    ),
    (
        "-------- Mensaje original --------\n"
        "De: Dana Levi <dana@host.example>\n"
        "Fecha: 15/1/25 10:12 (GMT+01:00)\n"
        "Para: Ota\n"
        "Asunto: Re: pump"
    ),
    (
        "-------- הודעה מקורית --------\n"
        "מאת: Dana Levi <dana@host.example>\n"
        "תאריך: 15.1.2025 10:12 (GMT+02:00)\n"
        "אל: Ota\n"
        "נושא: Re: pump"
    ),
    (
        "From: Dana Levi <dana@host.example>\n"
        "Sent: Wednesday, January 15, 2025 10:12 AM\n"
        "To: Ota Novak <ota@host.example>; Petr Svoboda <petr@host.example>;\n"
        "Eva <eva@host.example>\n"
        "Cc: Jan <jan@host.example>\n"
        "Subject: RE: A rather long subject that goes on and on and\n"
        " on behind the fold"
    ),
    (
        "________________________________\n"
        "From: Dana Levi <dana@host.example>\n"
        "Sent: Wednesday, January 15, 2025 10:12:33 AM\n"
        "To: Ota <ota@host.example>\n"
        "Subject: Re: pump"
    ),
    (
        "*From:* Dana Levi <dana@host.example>\n"
        "*Sent:* Wednesday, January 15, 2025 10:12 AM\n"
        "*To:* Ota <ota@host.example>\n"
        "*Subject:* RE: pump"
    ),
    (
        "מאת: דנה לוי <dana@host.example>\n"
        "נשלח: יום רביעי 15 ינואר 2025 10:12\n"
        "אל: אוטה <ota@host.example>\n"
        "נושא: RE: משאבה"
    ),
    (
        "\u200f\u200fמאת: דנה לוי <dana@host.example>\n"
        "\u200f\u200fנשלח: יום רביעי 15 ינואר 2025 10:12\n"
        "\u200f\u200fאל: אוטה\n"
        "\u200f\u200fעותק: פטר\n"
        "\u200f\u200fנושא: RE: משאבה"
    ),
    ("From: דנה לוי [mailto:dana@host.example] \nSent: יום ד 15 ינואר 2025 10:12\nTo: אוטה\nSubject: RE: משאבה"),
    (
        "Od: Dana Levi <dana@host.example> \n"
        "Odesláno: středa 15. ledna 2025 10:12\n"
        "Komu: Ota <ota@host.example>\n"
        "Předmět: RE: čerpadlo"
    ),
    (
        "From: Dana Levi <dana@host.example>\n"
        "Date: středa 15. ledna 2025 10:12\n"
        "To: Ota <ota@host.example>\n"
        "Subject: Re: čerpadlo"
    ),
    (
        "Von: Dana Levi <dana@host.example> \n"
        "Gesendet: Mittwoch, 15. Januar 2025 10:12\n"
        "An: Ota <ota@host.example>\n"
        "Cc: Jan\n"
        "Betreff: AW: Pumpe"
    ),
    (
        "De : Dana Levi <dana@host.example> \n"
        "Envoyé : mercredi 15 janvier 2025 10:12\n"
        "À : Ota <ota@host.example>\n"
        "Cc : Jan\n"
        "Objet : RE: pompe"
    ),
    (
        "De : Dana Levi <dana@host.example>\n"
        "Envoyé le : mercredi 15 janvier 2025 10:12\n"
        "A : Ota <ota@host.example>\n"
        "Objet : RE: pompe"
    ),
    (
        "De: Dana Levi <dana@host.example> \n"
        "Enviado el: miércoles, 15 de enero de 2025 10:12\n"
        "Para: Ota <ota@host.example>\n"
        "CC: Jan\n"
        "Asunto: RE: bomba"
    ),
    ("De: Dana Levi <dana@host.example>\nEnviado: miércoles, 15 de enero de 2025 10:12\nPara: Ota\nAsunto: RE: bomba"),
    (
        "-----Dana Levi <dana@host.example> wrote: -----\n"
        "To: Ota\n"
        "From: Dana Levi\n"
        "Date: 01/15/2025 10:12AM\n"
        "Subject: pump"
    ),
    (
        "----- Original message -----\n"
        "From: Dana Levi <dana@host.example>\n"
        "To: ota@host.example\n"
        "Subject: pump\n"
        "Date: Wed, 15 Jan 2025 10:12"
    ),
    "-----Original Message-----",
    (
        "----- Original Message ----- \n"
        'From: "Dana Levi" <dana@host.example>\n'
        'To: "Ota" <ota@host.example>\n'
        "Sent: Wednesday, January 15, 2025 10:12 AM\n"
        "Subject: pump"
    ),
    (
        "----- Mensaje original -----\n"
        'De: "Dana Levi" <dana@host.example>\n'
        'Para: "Ota" <ota@host.example>\n'
        "Enviados: Miércoles, 15 de Enero 2025 10:12:33\n"
        "Asunto: bomba"
    ),
    (
        "----- Mail original -----\n"
        'De: "Dana Levi" <dana@host.example>\n'
        'À: "Ota" <ota@host.example>\n'
        "Envoyé: Mercredi 15 Janvier 2025 10:12:33\n"
        "Objet: pompe"
    ),
    (
        "----- Ursprüngliche Mail -----\n"
        'Von: "Dana Levi" <dana@host.example>\n'
        'An: "Ota" <ota@host.example>\n'
        "Gesendet: Mittwoch, 15. Januar 2025 10:12:33\n"
        "Betreff: Pumpe"
    ),
    "From: Dana Levi\nSent: Wednesday, January 15, 2025 10:12 AM\nTo: Ota\nSubject: pump",
    (
        "-----Original-Nachricht-----\n"
        "Betreff: Pumpe\n"
        "Datum: 2025-01-15T10:12:33+0100\n"
        'Von: "Dana" <dana@host.example>\n'
        'An: "Ota" <ota@host.example>'
    ),
]
"""of Outlook, Samsung, Seznam, GMX and WEB.DE, T-Online, Zimbra, Windows Mail and Lotus Notes"""


@pytest.mark.parametrize("header", HEADERS)
def test_headers_above_history(header: str) -> None:
    history = f"{header}\n\nWhen is it?\nDana"
    assert parts(f"Friday then.\n\n{history}\n") == [("fresh", "Friday then."), ("quoted", history)]


PHONES = [
    "Sent from my iPhone",
    "Sent from my iPad",
    "Sent from my Galaxy",
    "Sent from my Samsung Galaxy S21",
    "Sent from my Verizon, Samsung Galaxy smartphone",
    "Sent from Outlook for Android<https://aka.ms/ghei36>",
    "Sent from Outlook for iOS",
    "Get Outlook for Android",
    "Sent from Mail for Windows",
    "Sent from Mail for Windows 10",
    "Sent from Yahoo Mail on Android",
    "Sent from Yahoo Mail for iPhone",
    "Sent from ProtonMail mobile",
    "Sent with Proton Mail secure email.",
    "Sent with ProtonMail Secure Email.",
    "Sent from my BlackBerry 10 smartphone.",
    "Sent from my Windows Phone",
    "Sent via the Samsung Galaxy S10, an AT&T 5G smartphone",
    "Sent from my mobile device",
    "Sent from my mobile phone",
    "Sent from my phone",
    "Sent from my Pixel",
    "Sent from Gmail Mobile",
    "Sent from Samsung Mobile",
    "Sent from my Huawei phone",
    "Sent from my android device.",
    "Sent from TypeApp",
    "Sent from BlueMail",
    "Sent from my tablet",
    "Von meinem iPhone gesendet",
    "Von meinem iPad gesendet",
    "Von meinem Samsung Galaxy Smartphone gesendet.",
    "Von meinem Samsung Gerät gesendet.",
    "Gesendet mit der GMX Mail App",
    "Gesendet mit der WEB.DE Mail App",
    "Diese Nachricht wurde von meinem Android-Gerät mit K-9 Mail gesendet.",
    "Diese Nachricht wurde von meinem Android Mobiltelefon mit WEB.DE Mail gesendet.",
    "Gesendet von Mail für Windows",
    "Gesendet von Yahoo Mail auf Android",
    "Gesendet von meinem Handy",
    "Holen Sie sich Outlook für Android",
    "Gesendet von Outlook Mobile",
    "Gesendet über die GMX Mail App",
    "Odesláno z iPhonu",
    "Odesláno z mého iPhonu",
    "Odesláno z Outlooku pro Android",
    "Odesláno z aplikace Pošta pro Windows",
    "Odesláno ze Samsung Mobile",
    "Odesláno z mého Samsung Galaxy smartphonu.",
    "Získejte Outlook pro Android",
    "Získat Outlook pro iOS",
    "Odesláno z aplikace Outlook pro iOS",
    "Posláno z mobilu Samsung",
    "Odesláno z mobilní aplikace Email.cz",
    "Odesláno z mobilní aplikace Seznam Email",
    "Odesláno z telefonu Xiaomi",
    "Envoyé de mon iPhone",
    "Envoyé de mon iPad",
    "Envoyé depuis mon smartphone Samsung Galaxy.",
    "Envoyé depuis l'application Mail Orange",
    "Envoyé à partir de Outlook pour Android",
    "Envoyé depuis mon appareil Galaxy",
    "Envoyé de mon mobile",
    "Télécharger Outlook pour Android",
    "Provenance : Courrier pour Windows",
    "Envoyé à partir de Yahoo Mail pour iPhone",
    "Obtenez Outlook pour iOS",
    "Envoyé depuis Yahoo Mail pour Android",
    "Enviado desde mi iPhone",
    "Enviado desde mi iPad",
    "Enviado desde mi Samsung Galaxy",
    "Enviado desde mi smartphone Samsung Galaxy.",
    "Enviado desde Correo para Windows",
    "Enviado desde Outlook para Android",
    "Enviado desde Yahoo Mail con Android",
    "Obtener Outlook para Android",
    "Enviado desde mi móvil",
    "Enviado desde mi dispositivo Galaxy",
    "Enviado de Samsung Mobile",
    "Enviado desde mi HUAWEI",
    "Obtén Outlook para iOS",
    "נשלח מה-iPhone שלי",
    "נשלח מהאייפון שלי",
    "נשלח מ-iPhone שלי",
    "נשלח מהטלפון שלי",
    "נשלח מה-iPad שלי",
    "נשלח מהגלקסי שלי",
    "נשלח מהסמארטפון Samsung Galaxy שלי.",
    "הורד את Outlook עבור Android",
    "קבל את Outlook עבור iOS",
    "נשלח מדואר עבור Windows",
    "נשלח מ-Outlook עבור Android",
    "נשלח מהנייד",
    "נשלח ממכשיר ה-Galaxy שלי",
    "נשלח מ- Yahoo Mail ב- Android",
    "\u202bנשלח מה-iPhone שלי\u202c",
    "-- \nSent from my iPhone",
    "—\nSent from Gmail Mobile",
    "--\nSent from Gmail Mobile",
]


@pytest.mark.parametrize("line", PHONES)
def test_last_lines_of_phones_and_programs(line: str) -> None:
    assert parts(f"Friday then.\n\n{line}\n") == [("fresh", "Friday then."), ("signature", line)]
    found = parts(f"Friday then.\n\n{line}\n\n{HISTORY}\n\n> When?")
    assert [kind for kind, _ in found] == ["fresh", "signature", "quoted"]


FORWARDS = [
    (
        "---------- Forwarded message ---------",
        ("From: Dana <d@h.example>\nDate: Wed, Jan 15, 2025 at 10:12 AM\nSubject: pump\nTo: Ota <o@h.example>"),
    ),
    (
        "---------- Forwarded message ----------",
        'From: "Dana" <d@h.example>\nDate: 15 Jan 2025 10:12\nSubject: pump\nTo: <o@h.example>\nCc: x@y.z',
    ),
    (
        "---------- Forwarded message ---------",
        "Od: Dana <d@h.example>\nDate: st 15. 1. 2025 v 10:12\nSubject: pump\nTo: <o@h.example>",
    ),
    (
        "---------- Forwarded message ---------",
        "Von: Dana <d@h.example>\nDate: Mi., 15. Jan. 2025 um 10:12 Uhr\nSubject: pump\nTo: <o@h.example>",
    ),
    (
        "---------- Forwarded message ---------",
        "De : Dana <d@h.example>\nDate: mer. 15 janv. 2025 à 10:12\nSubject: pump\nTo: <o@h.example>",
    ),
    (
        "---------- Forwarded message ---------",
        "De: Dana <d@h.example>\nDate: mié, 15 ene 2025 a las 10:12\nSubject: pump\nTo: <o@h.example>",
    ),
    (
        "---------- Forwarded message ---------",
        (
            "\u202bמאת: \u202aDana\u202c\u200f <\u202ad@h.example\u202c\u200f>\u202c\n"
            "\u202aDate: יום ד׳, 15 בינו׳ 2025 ב-10:12\u202c\n"
            "\u202aSubject: pump\u202c\n"
            "\u202aTo: <o@h.example>\u202c"
        ),
    ),
    (
        "-------- Přeposlaná zpráva --------",
        "Předmět: \tpump\nDatum: \tWed, 15 Jan 2025 10:12\nOd: \tDana <d@h.example>\nKomu: \tota@h.example",
    ),
    (
        "-------- Forwarded Message --------",
        (
            "Subject: \tpump\n"
            "Date: \tWed, 15 Jan 2025 10:12\n"
            "From: \tDana <d@h.example>\n"
            "Reply-To: \tx@h.example\n"
            "To: \tota@h.example"
        ),
    ),
    (
        "-------- Weitergeleitete Nachricht --------",
        (
            "Betreff: \tpump\n"
            "Datum: \tWed, 15 Jan 2025 10:12\n"
            "Von: \tDana <d@h.example>\n"
            "Antwort an: \tx@h.example\n"
            "Organisation: Acme\n"
            "An: \tota@h.example"
        ),
    ),
    (
        "-------- Message transféré --------",
        (
            "Sujet : \tpump\n"
            "Date : \tWed, 15 Jan 2025 10:12\n"
            "De : \tDana <d@h.example>\n"
            "Répondre à : \tx@h.example\n"
            "Pour : \tota@h.example"
        ),
    ),
    (
        "-------- Mensaje reenviado --------",
        "Asunto: \tpump\nFecha: \tWed, 15 Jan 2025 10:12\nDe: \tDana <d@h.example>\nPara: \tota@h.example",
    ),
    ("-------- הודעה שהועברה --------", "נושא: pump\nתאריך: 15/1/2025\nמאת: Dana\nאל: Ota"),
    (
        "Begin forwarded message:",
        ("\nFrom: Dana <d@h.example>\nDate: 15 January 2025 at 10:12:33 CET\nTo: Ota <o@h.example>\nSubject: pump"),
    ),
    (
        "Anfang der weitergeleiteten Nachricht:",
        "\nVon: Dana <d@h.example>\nBetreff: Aw: pump\nDatum: 15. Januar 2025 um 10:12:33 MEZ\nAn: Ota",
    ),
    (
        "Začátek přeposílané zprávy:",
        "\nOd: Dana <d@h.example>\nPředmět: pump\nDatum: 15. ledna 2025 10:12:33 SEČ\nKomu: Ota",
    ),
    (
        "Začátek přeposlané zprávy:",
        "\nOd: Dana <d@h.example>\nPředmět: pump\nDatum: 15. ledna 2025 10:12:33 SEČ\nKomu: Ota",
    ),
    (
        "Début du message réexpédié :",
        "\nDe: Dana <d@h.example>\nObjet: pump\nDate: 15 janvier 2025 à 10:12:33 UTC+1\nÀ: Ota",
    ),
    (
        "Inicio del mensaje reenviado:",
        "\nDe: Dana <d@h.example>\nAsunto: pump\nFecha: 15 de enero de 2025, 10:12:33 CET\nPara: Ota",
    ),
    ("תחילת ההודעה שהועברה:", "\nמאת: Dana <d@h.example>\nנושא: pump\nתאריך: 15 בינואר 2025\nאל: Ota"),
    (
        "---------- Přeposlaný e-mail ----------",
        "Od: Dana <d@h.example>\nKomu: o@h.example\nDatum: 15. 1. 2025 10:12\nPředmět: pump",
    ),
    ("----- Forwarded by Dana/ACME on 15/01/2025 10:12 -----", "From: Dana\nTo: Ota\nDate: 15/01/2025\nSubject: pump"),
    (
        "----- Forwarded message from Dana Levi <d@h.example> -----",
        "Date: Wed, 15 Jan 2025 10:12\nFrom: Dana Levi <d@h.example>\nTo: o@h.example\nSubject: pump",
    ),
]


@pytest.mark.parametrize(("divider", "header"), FORWARDS)
def test_forwards(divider: str, header: str) -> None:
    assert parts(f"See below.\n\n{divider}\n{header}\n\nThe pump is broken.\n") == [
        ("fresh", "See below."),
        ("forward_headers", f"{divider}\n{header}"),
        ("forwarded", "The pump is broken."),
    ]


@pytest.mark.parametrize(
    "subject",
    ["Fwd: x", "FW: x", "fw: x", "[ext] FW: x", "WG: x", "TR: x", "RV: x", "I: x", "PŘ: x", "Předáno: x", "הועבר: x"],
)
def test_the_subject_tells_a_forward_from_an_answer(subject: str) -> None:
    text = "See.\n\nFrom: Dana <d@h.example>\nSent: Wednesday, January 15, 2025 10:12 AM\nSubject: pump\n\nBroken."
    assert [kind for kind, _ in parts(text, subject)] == ["fresh", "forward_headers", "forwarded"]
    assert [kind for kind, _ in parts(text, "Re: x")] == ["fresh", "quoted"]


CLOSINGS = [
    "Best regards,",
    "Kind regards",
    "Mit freundlichen Grüßen",
    "Viele Grüße,",
    "S pozdravem",
    "S pozdravem,",
    "Cordialement,",
    "Bien cordialement",
    "Saludos,",
    "Un saludo,",
    "Atentamente,",
    "בברכה,",
    "\u200fבברכה,",
    "Regards,",
    "Sincerely,",
    "Cheers,",
    "LG",
]


@pytest.mark.parametrize("closing", CLOSINGS)
def test_a_closing_with_the_card_below_it(closing: str) -> None:
    card = f"{closing}\n\nDana Levi\nAcme Ltd | +420 123 456 789\nwww.acme.example"
    assert parts(f"Friday then.\n\n{card}\n") == [("fresh", "Friday then."), ("signature", card)]
    assert [kind for kind, _ in parts(f"Friday then.\n\n{card}\n\n{HISTORY}\n\n> When?")] == [
        "fresh",
        "signature",
        "quoted",
    ]
    for text in (
        f"{closing}\nDana",
        f"Friday then.\n\n{closing}\nDana\n\nP.S. Bring bread.",
        f"Friday then.\n\n{closing}\n" + "A line that goes on.\n" * 9,
    ):
        assert parts(text) == [("fresh", text.strip())]


@pytest.mark.parametrize("rule", ["—", "---", "__", "--", "--\u00a0", "\u200f-- "])
def test_rules_above_a_name(rule: str) -> None:
    card = f"{rule}\nDana Levi\nAcme Ltd"
    assert parts(f"Friday then.\n\n{card}\n") == [("fresh", "Friday then."), ("signature", card.strip())]


DISCLAIMERS = [
    (
        "This e-mail and any files transmitted with it are confidential and intended "
        "solely for the use of the individual or entity to whom they are addressed."
    ),
    (
        "This message contains confidential information and is intended only for the "
        "individual named. If you are not the named addressee you should not "
        "disseminate, distribute or copy this e-mail."
    ),
    (
        "The information in this email is confidential and may be legally privileged. It "
        "is intended solely for the addressee. Access to this email by anyone else is unauthorised."
    ),
    (
        "NOTICE: This communication may contain privileged or other confidential "
        "information. If you are not the intended recipient, please delete it."
    ),
    ("This email may contain confidential information. If you received it in error please delete it and notify us."),
    (
        "The contents of this email are intended for the named addressee(s) only. It may "
        "contain information which is confidential and privileged. If you are not the "
        "intended recipient, please notify the sender immediately, destroy any copies "
        "and delete it from your computer system."
    ),
    (
        "Tato e-mailová zpráva a všechny připojené soubory jsou důvěrné a určené "
        "výhradně adresátovi. Jestliže jste zprávu obdrželi omylem, informujte "
        "odesílatele a zprávu vymažte."
    ),
    (
        "Tento e-mail a jakékoliv k němu připojené dokumenty jsou důvěrné a jsou určeny "
        "pouze jeho adresátům. Jestliže jste obdržel(a) tento e-mail omylem, informujte "
        "laskavě neprodleně jeho odesílatele."
    ),
    (
        "Tato zpráva nezakládá žádný závazek odesílatele uzavřít smlouvu, není návrhem "
        "na uzavření smlouvy a slouží výhradně k informaci."
    ),
    (
        "Der Inhalt dieser E-Mail ist vertraulich und ausschließlich für den "
        "bezeichneten Adressaten bestimmt. Wenn Sie nicht der vorgesehene Adressat sind, "
        "beachten Sie bitte, dass jede Form der Kenntnisnahme, Veröffentlichung oder "
        "Weitergabe unzulässig ist. Bitte informieren Sie den Absender."
    ),
    (
        "Ce courriel et les pièces jointes sont confidentiels et établis à l'intention "
        "exclusive de leurs destinataires. Si vous avez reçu ce message par erreur, "
        "merci d'en avertir immédiatement l'expéditeur et de le détruire."
    ),
    (
        "Ce message et toutes les pièces jointes sont établis à l'intention exclusive de "
        "ses destinataires et sont confidentiels. Toute utilisation non autorisée est interdite."
    ),
    (
        "Este correo electrónico y sus anexos son confidenciales y están dirigidos "
        "exclusivamente a su destinatario. Si usted no es el destinatario, le rogamos lo "
        "comunique al remitente y proceda a su eliminación."
    ),
    (
        "AVISO LEGAL: Este mensaje contiene información privilegiada y confidencial. "
        "Queda notificado que la utilización sin autorización está prohibida. Si ha "
        "recibido este mensaje por error, destrúyalo."
    ),
    (
        "הודעה זו עשויה להכיל מידע חסוי או סודי. אם אינך הנמען המיועד, הנך מתבקש להודיע "
        "לשולח ולמחוק את ההודעה. אסור להעתיק או להפיץ הודעה זו."
    ),
    ("המידע הכלול בהודעה זו הינו סודי ומיועד לנמען בלבד. אם קיבלת הודעה זו בטעות אנא מחק אותה והודע לשולח."),
]


@pytest.mark.parametrize("disclaimer", DISCLAIMERS)
def test_what_lawyers_add(disclaimer: str) -> None:
    assert parts(f"Friday then.\n\n{disclaimer}\n") == [("fresh", "Friday then."), ("disclaimer", disclaimer)]


ORDINARY = [
    "Agenda:\nFrom: 10:00\nTo: 11:00\nSubject: pump\nDate: Monday",
    "Please fill in:\nFrom: Brno\nTo: Praha\nDate: 15 January 2025\n\nThanks.",
    "Von: Berlin\nNach: Wien\nDatum: 15.01.2025\n\nDanke.",
    "On 15 January 2025 at 10:12 Dana wrote to the city about the pump, and they answered:\nno.",
    "As Kafka wrote in 1915:\nWhen Gregor Samsa awoke.",
    "Am 15.01.2025 um 10:12 war die Pumpe kaputt:\nwir haben sie ersetzt.",
    "Dne 15. 1. 2025 v 10:12 přišel technik a řekl:\nčerpadlo je rozbité.",
    "El 15 de enero de 2025 a las 10:12 llegó el técnico:\nla bomba está rota.",
    "Le 15 janvier 2025 à 10:12 le technicien est venu :\nla pompe est cassée.",
    "בתאריך 15/01/2025 בשעה 10:12 הגיע הטכנאי:\nהמשאבה שבורה.",
    "Run this:\n>>> import os\n>>> os.getcwd()\n'/home'\nThanks",
    "$ echo a > b\n$ cat b\na",
    "Part one\n\n----------\n\nPart two\n\n==========\n\nPart three is long.",
    "- one\n-- two\n--- three\nbye",
    "The original message was lost.\n\nOriginal message:\nit said nothing.",
    "| a | b |\n|---|---|\n| 1 | 2 |\nok",
    (
        "The contract is confidential and privileged, says our lawyer. Please notify the "
        "sender of the invoice that it is paid. Can you call him tomorrow? We will need "
        "the pump by Friday and the plumber comes at ten."
    ),
    "Dana wrote:\nI read it.",
    "דנה כתבה:\nקראתי את זה.",
    "10:12 - 11:00: break\n15/01/2025 10:12: pump broke\n16/01/2025 11:00: pump fixed",
    "2025-01-15 10:12:33 ERROR pump:\nno water\n2025-01-15 10:13 INFO ok:\nwater",
    "Hello\n--\na\na\na\na\na\na\na\na\na\na\na\na\na\na\na\n",
    "Contact me at <dana@host.example>:\nany time.",
    "On 15/01/2025 at 10:12 please write to <dana@host.example>:\nshe knows.",
    "Friday then.\n\nSent from my heart, with love to all of you",
    "Friday then.\n\nSent from Prague with the morning train, see the letter",
    "Friday then.\n\nGesendet habe ich es gestern mit der Post.",
    "Friday then.\n\nEnvoyé depuis Paris hier soir par la poste.",
    "Friday then.\n\nEnviado desde Madrid ayer por la tarde.",
    "Friday then.\n\nOdesláno z Prahy včera večer poštou.",
    "Friday then.\n\nנשלח מירושלים אתמול בדואר רגיל",
    "Friday then.\n\nGet Outlook fixed for Monday please",
    "Friday then.\n\nMail me.",
    "Hezký den,\nposílám fakturu.\nOta",
    "Part one\n---\nPart two",
    "First point.\n\n---\n\nSecond point is longer.",
]


@pytest.mark.parametrize("text", ORDINARY)
def test_what_only_looks_like_it(text: str) -> None:
    assert parts(text) == [("fresh", text.strip())]


def test_answers_between_quotations() -> None:
    text = f"{HISTORY}\n> One?\n\nYes.\n\n> Two?\n\nNo.\n\n> Three?\n>> Four?\nPerhaps.\n-- \nDana\n"
    assert parts(text) == [
        ("quoted", f"{HISTORY}\n> One?"),
        ("fresh", "Yes."),
        ("quoted", "> Two?"),
        ("fresh", "No."),
        ("quoted", "> Three?\n>> Four?"),
        ("fresh", "Perhaps."),
        ("signature", "-- \nDana"),
    ]


def test_a_divider_above_an_introduction_ends_with_the_quotation() -> None:
    quoted = f"------- Original Message -------\n{HISTORY}\n> When?"
    assert parts(f"{quoted}\n\nFriday then.") == [("quoted", quoted), ("fresh", "Friday then.")]


PAGES = {
    "gmail": (
        '<div dir="ltr">Friday then.</div><br><div class="gmail_quote '
        'gmail_quote_container"><div dir="ltr" class="gmail_attr">On Wed, 15 Jan 2025 at '
        '10:12, Dana &lt;<a href="mailto:d@h.example">d@h.example</a>&gt; '
        'wrote:<br></div><blockquote class="gmail_quote" style="margin:0px 0px 0px '
        '0.8ex;border-left:1px solid rgb(204,204,204);padding-left:1ex"><div '
        'dir="ltr">When is it?</div></blockquote></div>'
    ),
    "gmail sig": (
        '<div dir="ltr">Friday then.<br clear="all"><div><br></div><span '
        'class="gmail_signature_prefix">-- </span><br><div dir="ltr" '
        'class="gmail_signature">Dana Levi<br>Acme</div></div>'
    ),
    "apple": (
        '<html><body>Friday then.<br><div><br><blockquote type="cite"><div>On 15 Jan '
        '2025, at 10:12, Dana &lt;<a href="mailto:d@h.example">d@h.example</a>&gt; '
        'wrote:</div><br class="Apple-interchange-newline"><div>When is '
        "it?</div></blockquote></div></body></html>"
    ),
    "iphone": (
        '<html><body dir="auto">Friday then.<br><br><div dir="ltr">Sent from my '
        'iPhone</div><div dir="ltr"><br><blockquote type="cite">On 15 Jan 2025, at '
        "10:12, Dana &lt;d@h.example&gt; wrote:<br><br></blockquote></div><blockquote "
        'type="cite"><div dir="ltr">When is it?</div></blockquote></body></html>'
    ),
    "tb": (
        '<html><body><p>Friday then.</p><div class="moz-cite-prefix">On 15/01/2025 '
        '10:12, Dana wrote:<br></div><blockquote type="cite" cite="mid:x"><p>When is '
        "it?</p></blockquote></body></html>"
    ),
    "outlook": (
        '<html><body><div class="WordSection1"><p class="MsoNormal">Friday '
        'then.<o:p></o:p></p><p class="MsoNormal"><o:p>&nbsp;</o:p></p><div><div '
        'style="border:none;border-top:solid #E1E1E1 1.0pt;padding:3.0pt 0cm 0cm 0cm"><p '
        'class="MsoNormal"><b><span lang=EN-US>From:</span></b><span lang=EN-US> Dana '
        "&lt;d@h.example&gt; <br><b>Sent:</b> Wednesday, January 15, 2025 10:12 "
        "AM<br><b>To:</b> Ota &lt;o@h.example&gt;<br><b>Subject:</b> "
        'pump<o:p></o:p></span></p></div></div><p class="MsoNormal">When is '
        "it?<o:p></o:p></p></div></body></html>"
    ),
    "outlook he": (
        "<html><body dir=RTL><p class=MsoNormal dir=RTL>Friday then.</p><div "
        'style="border:none;border-top:solid #E1E1E1 1.0pt"><p class=MsoNormal '
        "dir=RTL><b><span lang=HE>מאת:</span></b><span dir=LTR></span> Dana "
        "&lt;d@h.example&gt;<br><b><span lang=HE>נשלח:</span></b> יום רביעי 15 ינואר "
        "2025 10:12<br><b><span lang=HE>אל:</span></b> Ota<br><b><span "
        "lang=HE>נושא:</span></b> pump</p></div><p>When is it?</p></body></html>"
    ),
    "owa": (
        '<html><body><div class="elementToProof">Friday then.</div><div '
        'id="appendonsend"></div><hr style="display:inline-block;width:98%" '
        'tabindex="-1"><div id="divRplyFwdMsg" dir="ltr"><font '
        'face="Calibri"><b>From:</b> Dana &lt;d@h.example&gt;<br><b>Sent:</b> Wednesday, '
        "January 15, 2025 10:12:33 AM<br><b>To:</b> Ota<br><b>Subject:</b> "
        "pump</font><div>&nbsp;</div></div><div>When is it?</div></body></html>"
    ),
    "owa no labels": (
        "<html><body><div>Friday then.</div><div "
        'id="mail-editor-reference-message-container"><div '
        'class="ms-outlook-mobile-reference-message"><hr><b>Od:</b> '
        "Dana<br><b>Odesláno:</b> středa 15. ledna 2025 10:12<br><b>Komu:</b> "
        "Ota<br><b>Předmět:</b> pump</div><div>When is it?</div></div></body></html>"
    ),
    "yahoo": (
        '<html><body><div>Friday then.</div><div id="yahoo_quoted_1" '
        'class="yahoo_quoted"><div><div>On Wednesday, January 15, 2025 at 10:12:33 AM '
        "GMT+2, Dana &lt;d@h.example&gt; wrote:</div><div><br></div><div>When is "
        "it?</div></div></div></body></html>"
    ),
    "proton": (
        '<div style="font-family: Arial;">Friday then.</div><div '
        'class="protonmail_quote">On Wednesday, January 15th, 2025 at 10:12 AM, Dana '
        '&lt;d@h.example&gt; wrote:<br><blockquote class="protonmail_quote" '
        'type="cite">When is it?<br></blockquote><br></div>'
    ),
    "gmx": (
        '<html><body><div>Friday then.</div><div> <div name="quote" style="margin:10px '
        '5px 5px 10px; border-left:2px solid #C3D9E5;"><div style="margin:0 0 10px '
        '0;"><b>Gesendet:</b> Mittwoch, 15. Januar 2025 um 10:12 Uhr<br/><b>Von:</b> '
        '"Dana" &lt;d@h.example&gt;<br/><b>An:</b> o@h.example<br/><b>Betreff:</b> '
        'pump</div><div name="quoted-content">When is it?</div></div></div></body></html>'
    ),
    "zimbra": (
        '<html><body><div>Friday then.</div><hr id="zwchr" '
        'data-marker="__DIVIDER__"><div data-marker="__HEADERS__"><blockquote '
        'style="border-left:2px solid #1010FF"><b>De: </b>"Dana" '
        '&lt;d@h.example&gt;<br><b>À: </b>"Ota" &lt;o@h.example&gt;<br><b>Envoyé: '
        "</b>Mercredi 15 Janvier 2025 10:12:33<br><b>Objet: "
        "</b>pump<br></blockquote></div><div><blockquote>When is it?</blockquote></div></body></html>"
    ),
    "seznam": (
        "<p>Friday then.</p><p><br></p><aside>---------- Původní e-mail "
        "----------<br>Od: Dana &lt;d@h.example&gt;<br>Komu: o@h.example<br>Datum: 15. "
        "1. 2025 10:12:33<br>Předmět: pump</aside><br><blockquote "
        'data-email="d@h.example">When is it?</blockquote>'
    ),
    "roundcube": (
        '<html><body><div class="pre">Friday then.</div><p>Dne 2025-01-15 10:12, Dana '
        'napsal(a):</p><blockquote type="cite" style="padding: 0 0.4em; border-left: '
        '#1010ff 2px solid; margin: 0"><div class="pre">When is it?</div></blockquote></body></html>'
    ),
    "gmail fwd": (
        '<div dir="ltr">Friday then.<br><br><div class="gmail_quote"><div dir="ltr" '
        'class="gmail_attr">---------- Forwarded message ---------<br>From: <strong '
        'class="gmail_sendername" dir="auto">Dana</strong> <span dir="auto">&lt;<a '
        'href="mailto:d@h.example">d@h.example</a>&gt;</span><br>Date: Wed, Jan 15, 2025 '
        "at 10:12 AM<br>Subject: pump<br>To: Ota &lt;<a "
        'href="mailto:o@h.example">o@h.example</a>&gt;<br></div><br><br><div>When is '
        "it?</div></div></div>"
    ),
    "samsung": (
        '<html><body><div dir="auto">Friday then.</div><div dir="auto"><br></div><div '
        'style="font-size:100%;color:#000000"><!-- originalMessage --><div>-------- '
        "Original message --------</div><div>From: Dana &lt;d@h.example&gt; "
        "</div><div>Date: 15/01/2025  10:12  (GMT+02:00) </div><div>To: Ota "
        "</div><div>Subject: pump </div><div><br></div></div>When is it?</body></html>"
    ),
    "spark": (
        '<html><body><div name="messageBodySection"><div>Friday then.</div></div><div '
        'name="messageReplySection">On 15 Jan 2025 at 10:12 +0200, Dana '
        '&lt;d@h.example&gt;, wrote:<br/><blockquote type="cite" '
        'style="border-left-color: grey">When is it?</blockquote></div></body></html>'
    ),
    "table reply": "<table><tr><td>Friday then.</td></tr></table><blockquote>When is it?</blockquote>",
    "outlook mac": (
        "<html><body><div>Friday then.</div><div><br></div><span "
        'id="OLK_SRC_BODY_SECTION"><div style="border-top: #b5c4df 1pt solid;"><span '
        'style="font-weight:bold">From: </span> Dana &lt;d@h.example&gt;<br><span '
        'style="font-weight:bold">Date: </span> Wednesday, January 15, 2025 at '
        '10:12<br><span style="font-weight:bold">To: </span> Ota<br><span '
        'style="font-weight:bold">Subject: </span> pump<br></div><div>When is '
        "it?</div></span></body></html>"
    ),
}


@pytest.mark.parametrize("program", PAGES)
def test_pages_of_mail_programs(program: str) -> None:
    found = parts(to_text(PAGES[program]))
    assert found[0] == ("fresh", "Friday then.")
    history = found[-1][1] if program != "gmail sig" else "When is it?"
    assert all(kind != "fresh" for kind, _ in found[1:])
    assert history.endswith("When is it?")
