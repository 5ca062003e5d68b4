"""Patterns that look like numbers and addresses, to be repeated: what costs a finder more than its length is here."""

_SEPARATORS = [
    "", " ", "-", ".", "/", "_", ",", ";", ":", "|", "\t", "\n", "\r\n> ", "  ", " - ", "\u00a0", "\u200b", "\u200f",
    "\u2011", "\u00b7", "&nbsp;", "x", "(", ")", "+", "#", "~", "*", "=", "@",
]  # fmt: skip
_OTHERS = [
    "+", "(", ")", "[", "05", "1-", "00", "+1 ", "(1)", "IL62", "IL62 ", "GB82WEST", "I L 6 2 ", "DE89 3704 ", "a", "@",
    "a@", "a@b.", "a@b.cz,", "@a.", ".a", ".", "a-", "_", '"a', '"', "dead:beef:", "::", "12:30 ",
    "4111 1111 1111 1111 ", "4111-1111-1111-1111", "4111,1111|", "aGVsbG8gd29ybGQ=", "MTIz", "א1", "ל052",
    "שלום 052 ", "ת.ז. 123456782 ",
    "123456782 ", "order 123456782 ", "&nbsp;", "&#64;", "&", "%40", "\u200b", "1\u200b", "a\u200b@", "at dot ",
    "a at b dot ", "a (at) b (dot) c ", "a @ b . ", "x zavináč y tečka ", "שטרודל ", "\u200f05", "\u202a+1\u202c",
    "٠٥٢",
    "７", "𝟏", "१ ", "1 x1 ", "ext. 1 ", ";ext=1", "tel: 123456 ", "://", "://1/", "777 123 456 ", "602/",
    "780123/3540 ",
    "rč 780123 3540 ", "19-2000145399/0800 ", "account 10-800-99999999 ", "2024-01-01 ", "192.168.",
    "50.0755381, 14.4378005 ",
    "3.14159265", "1,000 ", "*1234 ", "*", "\n> ", "a@b.\n", "<PHONE_NUMBER:k1:", "1\u0301", "4fd71ac0ffee1234",
    "1 2 3 4 ",
]  # fmt: skip

PATTERNS = [*(f"{digits}{separator}" for digits in ("1", "052", "4111") for separator in _SEPARATORS), *_OTHERS]


def repeated(pattern: str, length: int) -> str:
    """The pattern over and over, as many characters."""
    return (pattern * (length // len(pattern) + 1))[:length]
