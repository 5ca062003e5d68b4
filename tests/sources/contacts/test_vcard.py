"""Lines of vCards: folded, in quoted-printable, or both, as old phones and Outlook write them."""

from io import BytesIO

import pytest

from relrag_pipelines.sources.contacts.vcard import cards

HEAD = "FN;CHARSET=UTF-8;ENCODING=QUOTED-PRINTABLE:"


@pytest.mark.parametrize(
    ("lines", "properties"),
    [
        # a soft line break
        ([f"{HEAD}J=C3=B6rg M=C3=BC=", "ller"], {"FN": "Jörg Müller"}),
        ([f"{HEAD}J=C3=B6rg M=C3=BC= ", "ller"], {"FN": "Jörg Müller"}),
        # a blank behind it is of the value
        ([f"{HEAD}J=C3=B6rg=", " M=C3=BCller"], {"FN": "Jörg Müller"}),
        # folded as well: within a character, or on every line
        ([f"{HEAD}J=C3=B6rg M=C3=", " =BCller"], {"FN": "Jörg Müller"}),
        ([f"{HEAD}=D7=93=D7=A0=", " =D7=99=D7=90=", " =D7=9C"], {"FN": "דניאל"}),
        # folded instead, also within the three signs of a byte
        ([f"{HEAD}J=C3=B6rg M=C3", " =BCller"], {"FN": "Jörg Müller"}),
        ([f"{HEAD}J=C3=B6rg M=C3=B", " Cller"], {"FN": "Jörg Müller"}),
        # other spellings of the parameters
        (["fn;quoted-printable;charset=utf-8:J=c3=b6=", "rg"], {"FN": "Jörg"}),
        (["FN;ENCODING=8BIT;ENCODING=Q;CHARSET=ISO-8859-1:J=F6rg"], {"FN": "Jörg"}),
        # a name of a charset that cannot be one
        (["FN;CHARSET=UTF\0-8:Jörg"], {"FN": "Jörg"}),
        # a soft break with nothing behind it
        ([f"{HEAD}J=C3=B6rg=", "TEL;CELL:555"], {"FN": "Jörg", "TEL": "555"}),
        ([f"{HEAD}J=C3=B6rg="], {"FN": "Jörg"}),
        # the end of a line of the value
        (["NOTE;ENCODING=QUOTED-PRINTABLE:a=0D=0A=", "b", "TEL:1"], {"NOTE": "a\r\nb", "TEL": "1"}),
        # a picture, indented or not, is passed over
        (["PHOTO;ENCODING=BASE64:AAAA", "BBBB=", "", "FN:Dana"], {"FN": "Dana"}),
        (["FN:Dana Le", " vi"], {"FN": "Dana Levi"}),
    ],
)
def test_values_on_several_lines(lines: list[str], properties: dict[str, str]) -> None:
    for end in ("\n", "\r\n"):
        text = end.join(["BEGIN:VCARD", "VERSION:2.1", *lines, "END:VCARD", ""])
        (card,) = cards(BytesIO(text.encode()))
        found = {one.name: one.value for one in card.properties if one.name != "VERSION"}
        assert (found, card.bad_lines, card.has_end) == (properties, 0, True)
