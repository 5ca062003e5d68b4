"""What mail programs write around old messages, in English, Hebrew, Czech, German, French and Spanish.

Compared in lower case, without marks of direction and with plain spaces. A new language is a few more phrases.
"""

from __future__ import annotations

import re


def _table(text: str) -> tuple[str, ...]:
    return tuple(phrase.strip() for line in text.splitlines() for phrase in line.split(" | ") if phrase.strip())


def _any(text: str) -> re.Pattern[str]:
    return re.compile("|".join(_table(text)))


WROTE = re.compile(
    r"(?<!\w)(?:wrote|writes|schrieb|schreibt|hat geschrieben|geschrieben|napsala?|napsali|napsal\(a\)|napsal/a|píše"
    r"|a écrit|écrit|escribió|escribio|ha escrito|escribe|כתבה?|כתב/ה|כתב\(ה\)|כתב/כתבה|כתבו) ?:$"
    r"|(?<!\w)(?:schrieb|schreibt|מאת) .{1,100}:$"
)
"""The verb that ends the line above a quotation; a name follows it in German, and "from" in newer Gmail in Hebrew."""

WROTE_ON = re.compile(
    r"(?<!\w)(?:wrote on|schrieb am|píše v|napsala? dne|a écrit (?:le|sur)|escribió el|כתבה? ב) ?\S.{5,80}:$"
)
"""The verb before the date, which ends the line."""

BEGINS = re.compile(
    r"(?:on|at|dne|dňa|am|le|el|en|בתאריך|ב-)(?=[\s\d]|-)|(?:po|út|st|čt|pá|so|ne) \d|\d{1,4}[./-]\s?\d{1,2}[./-]"
    r"|(?:mo|di|mi|do|fr|sa|so)\.,? \d|(?:מאת|ב)\s?\d"
)
"""How that line begins where it begins with the date."""

ORIGINAL = _any(r"""
original message | original appointment | reply message | reply to message | ursprüngliche nachricht
original-?nachricht | originaltext | originalnachricht | původní zpráva | původní e-?mail | původní email
message d'origine | message original | mail original | ursprüngliche mail
(?!on ).{3,80} <\S{3,80}> wrote | mensaje original | correo original | הודעה מקורית | ההודעה המקורית
""")
"""Between hyphens above the message that is answered."""

FORWARDED = _any("""
forwarded message | forwarded message from .{1,80} | begin forwarded message | forwarded by .{1,80}
weitergeleitete nachricht | anfang der weitergeleiteten nachricht | weitergeleitete e-?mail
přeposlaná zpráva | předaná zpráva | začátek přeposlané zprávy | začátek přeposílané zprávy
začátek předávané zprávy | přeposlaný e-?mail | message transféré | message réexpédié
début du message réexpédié | début du message transféré | courriel transféré
mensaje reenviado | inicio del mensaje reenviado | mensaje original reenviado | הודעה מועברת | הודעה שהועברה
תחילת ההודעה שהועברה | תחילת הודעה שהועברה
""")
"""Between hyphens, or before a colon, above a message that is passed on."""

FORWARD_SUBJECT = re.compile(
    r"\s*(?:\[[^\]]{0,40}\]\s*)?(?:fwd?|wg|tr|rv|enc|i|př|prep|přep|předáno|přeposláno|הועבר|העברה)\s?:", re.IGNORECASE
)
"""The subject of a mail that passes another one on."""

_LABELS = {
    "from": "from | von | od | de | expéditeur | מאת | odesílatel",
    "date": "sent | date | gesendet | gesendet am | datum | odesláno | envoyé | envoyé le | enviado | enviado el"
    " | fecha | enviado em | נשלח | תאריך | נשלח בתאריך",
    "to": "to | an | komu | à | a | destinataire | para | אל | לכבוד",
    "cc": "cc | bcc | kopie | copie | kopie (cc) | skrytá kopie | copia | cco | cci | עותק | עותק נסתר | העתק"
    " | reply-to | antwort an | odpovědět | répondre à | responder a | importance | wichtigkeit | důležitost"
    " | organisation | organization | organizace"
    " | organización | attachments | anlagen | přílohy | pièces jointes | datos adjuntos | קבצים מצורפים",
    "subject": "subject | betreff | předmět | věc | objet | sujet | asunto | נושא | הנדון",
}
LABELS = {label.strip(): kind for kind, labels in _LABELS.items() for label in labels.split(" | ")}
"""The names of header fields, and which field they are: from, date, to, cc (and others), subject."""

_DEVICE = (
    r"iphon|ipad|ipod|\bios\b|android|samsung|galaxy|huawei|xiaomi|redmi|pixel|oneplus|motorola|nokia|blackberry|outlook"
    r"|bluemail|typeapp|k-9|aqua ?mail|email\.cz"
    r"|yahoo|gmail|\bgmx\b|web\.de|\bmail\b|e-mail|windows|proton|thunderbird|\bphone|smartphone|handy|mobile?\b"
    r"|mobiltelefon|mobilu|telefonu|téléphone|portable|móvil|teléfono|tablet|seznam|אייפון|אייפד|אנדרואיד|טלפון|הנייד|גלקסי"
)
SENT_FROM = re.compile(
    r"(?:sent (?:from|via|using|with)|(?:get|download) outlook for|gesendet (?:von|mit|aus|über)"
    r"|(?:holen sie sich|laden sie) outlook|(?:ode|po)sláno (?:ze?|pomocí|přes|mým)|zís(?:kejte|kat) outlook"
    r"|envoyé (?:de|depuis|à partir|avec|via)|(?:obtenez|obtenir|télécharger) outlook|provenance :"
    r"|enviado (?:desde|de|con|a través)|(?:obtener|obtenga|obtén|descargar) outlook"
    r"|נשלח (?:מ|באמצעות|דרך|על ידי)|(?:הורד את|קבל את|קבלו את|להורדת) outlook)"
    rf"(?=.{{0,80}}(?:{_DEVICE})).{{1,100}}"
    rf"|(?:diese nachricht wurde )?(?:von meinem|z mého|ze svého|depuis mon|desde mi|de mon) (?=.{{0,60}}(?:{_DEVICE}))"
    r".{1,80}"
    r"(?:gesendet|odesláno|posláno|envoyé|enviado)\.?"
)
"""The last line that phones and mail programs add by themselves; matched against the whole line."""

CLOSES = _any("""
(?:(?:with )?(?:best|kind|kindest|warm|warmest) )?regards | (?:yours )?(?:sincerely|faithfully|truly)(?: yours)?
cheers | all the best | best wishes | mit (?:freundlichen|besten|herzlichen|lieben|vielen) grü(?:ß|ss)en
(?:beste|freundliche|liebe|viele|schöne|herzliche) grü(?:ß|ss)e | hochachtungsvoll | mfg | lg
s (?:pozdravem|úctou|přáním hezkého dne) | (?:hezký|krásný|pěkný) den | (?:bien )?cordialement | (?:bien )?à vous
amicalement | salutations distinguées | (?:un )?(?:cordial saludo|saludo cordial|saludo)
(?:cordiales )?saludos(?: cordiales)? | atentamente | un abrazo
בברכה | בכבוד רב | בתודה | תודה ובברכה | בברכה ותודה | כל טוב
""")
"""The whole line with which a letter closes, before the name of its writer."""

DISCLAIMERS = {
    "en": _table("""
    intended solely for | intended only for | intended for the (?:sole|exclusive|named) | solely for the use of
    the intended recipient | not the intended
    (?:received|receive|got) (?:it|(?:this|the) [\\w-]+(?: \\w+)?) (?:in error|by mistake)
    notify the sender | contact the sender | delete (?:it|(?:this|the) (?:e-?mail|message|communication) from)
    (?:may contain|contains?) (?:confidential|privileged) | confidential and|and privileged|legally privileged
    strictly prohibited | unauthori[sz]ed | disclosure, copying | disseminate | (?:named|the) addressee
    confidentiality notice | accepts? no (?:liability|responsibility)
    """),
    "he": _table("""
    מיועדת? (?:אך ורק|רק|לנמען|לשימוש) | הנמען | אינך הנמען | קיבלת (?:הודעה|דוא|מייל|מסר) | קבלת (?:הודעה|דוא|מייל|מסר)
    בטעות | מידע חסוי | חסויה? | סודי | נא (?:למחוק|להודיע|למסור) | אנא (?:מחק|הודע|מחקו|הודיעו) | אסורה? | הודעה זו
    """),
    "cs": _table("""
    určen[aoy]? (?:pouze|výhradně|výlučně) | není-? ?li adresát | nejste-? ?li | nejste adresát | adresát | omylem
    důvěrn | neprodleně | vymaž|smaž|odstraňte | odesílatele | nezakládá | není návrhem | předsmluvní | je zakázáno
    """),
    "de": _table("""
    vertrauliche | rechtlich geschützte | ausschließlich für | nicht der (?:richtige|beabsichtigte|vorgesehene)
    irrtümlich | informieren sie (?:bitte )?(?:sofort|umgehend|unverzüglich|den) | absender | vernichten sie
    löschen sie | unerlaubte | unbefugte | nicht gestattet | bestimmungsgemäß
    """),
    "fr": _table("""
    confidentiel | destinataires? | (?:reçu|parvenu) (?:ce|cet) [\\w-]+ par erreur | par erreur | l'expéditeur
    exclusivement | détrui(?:re|sez) | supprimer | non autorisée?s? | interdite?s? | décline toute responsabilité
    """),
    "es": _table("""
    confidencial | destinatari | por error | remitente | exclusiv | elimin | destru | no autorizad | prohibid
    secreto profesional | queda notificado | información privilegiada
    """),
}
"""Parts of the sentences that lawyers have put under mails, a language each; `ENOUGH` of them in one paragraph tell."""

ENOUGH = {"en": 3, "he": 3, "cs": 3, "de": 3, "fr": 3, "es": 3}
"""How many different ones; the parts are common words in some languages."""

FOOTERS = _any("""
consider the environment before printing | think before you print | been checked for viruses by | virus-free\\. ?www
this email has been scanned | denken sie an die umwelt, bevor | auf viren (?:geprüft|überprüft)
než (?:tento e-mail|tuto zprávu) vytisknete | zkontrolován(?:a)? (?:na přítomnost virů|programem avast)
pensez à l'environnement avant | l'absence de virus | piense en el medio ?ambiente antes
ha sido (?:comprobado|analizado) .{0,30}avast
חשבו על הסביבה לפני | חשוב על הסביבה לפני | לפני הדפסת | נבדק(?:ה)? לאיתור וירוסים | ללא וירוסים
""")
"""One of these alone marks a footer."""

LIST_FOOTERS = _any("""
unsubscribe | mailing list | mailing-list | mailman/listinfo
received this message because you are subscribed | groups\\.google\\.com | googlegroups\\.com
groups\\.io links | yahoo! groups links | list archives?: | to post to this list | abbestellen | mailingliste
newsletter abmelden | odhlásit (?:se )?z | odhlášení | poštovní konference | e-mailová konference | désabonner
désinscri | liste de diffusion | lista de correo | lista de distribución | cancelar (?:la|su) suscripci
lista de discussão | cancelar (?:a )?(?:sua )?inscriç | annullare l'iscrizione | uitschrijven | mailinglijst
wypisać się | lista dyskusyjna | listy dyskusyjnej | отписаться | список рассылки | відписатися
avprenumerera | e-postlista | leiratkoz | levelezőlista | listeden ayrıl | e-posta listesi | إلغاء الاشتراك
退订 | 邮件列表 | メーリングリスト | 수신거부 | להסרה מ | ביטול הרשמה | רשימת (?:ה)?תפוצה
""")
"""The footer that a mailing list adds to each mail, below a line of hyphens or the like."""
