"""Gmail's labels in `X-Gmail-Labels`, as Google Takeout writes them: encoded, and in the owner's language."""

from __future__ import annotations

import csv
from collections.abc import Iterable

from relrag_pipelines.sources.mail import headers

_OWN = {
    "inbox": ("Posteingang", "Boîte de réception", "Recibidos", "Doručená pošta", "דואר נכנס"),
    "sent": ("Gesendet", "Messages envoyés", "Enviados", "Odeslaná pošta", "Odeslané", "דואר יוצא", "נשלח"),
    "drafts": ("Draft", "Entwürfe", "Brouillons", "Borradores", "Koncepty", "טיוטות"),
    "spam": ("Spam", "ספאם"),
    "trash": ("Papierkorb", "Corbeille", "Papelera", "Koš", "אשפה"),
    "important": ("Wichtig", "Important", "Importantes", "Důležité", "חשוב"),
    "starred": ("Markiert", "Suivis", "Destacados", "S hvězdičkou", "מסומן בכוכב"),
    "unread": ("Ungelesen", "Non lus", "No leídos", "Nepřečtené", "Nepřečteno", "לא נקרא", "לא נקראו"),
    "opened": ("Geöffnet", "Ouvert", "Abierto", "Otevřené", "Otevřeno", "נפתח"),
    "archived": ("Archiviert", "Archivés", "Archivado", "Archivováno", "הועבר לארכיון"),
}
"""Labels that Gmail gives itself, in English -> in German, French, Spanish, Czech and Hebrew"""
_ENGLISH = {name.casefold(): english for english, names in _OWN.items() for name in (english, *names)}


def parse_labels(values: Iterable[bytes]) -> list[str]:
    """The labels, each once; those that Gmail gives itself in English, the owner's own as they are."""
    labels: dict[str, None] = {}
    for value in values:
        for label in next(csv.reader([headers.decode(value)], skipinitialspace=True), []):
            if plain := " ".join(label.split()):
                labels[_ENGLISH.get(plain.casefold(), plain)] = None
    return list(labels)
