"""Function words, by which a line's language is told and which say nothing of what a text is about."""

FINAL_LETTERS = str.maketrans("ךםןףץ", "כמנפצ")
"""Hebrew writes five letters in another form at the end of a word."""


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


ENGLISH = _words(
    """the of and to in is was for on that with by are were be been being as at from his her hers it its he she they
    this these those which or had has have having an not you your yours we our ours us my me i if so but about what when
    where who whom whose why how did does do doing will would can could should there their them then than into out also
    a am any because both each few further here him himself itself just more most no nor now off once only other over
    own same some such too under until up very while again against between during before after above below down
    all through let shall may might must don didn doesn isn wasn aren weren couldn wouldn shouldn hasn haven hadn
    tell give show please find know anyone anybody someone somebody something anything"""
)
CZECH = _words(
    """a i o u k s v z ke ve ze do od za po na je se si jsem jsme jste jsi jsou byl byla bylo byli byly bude budou byt
    ale uz jak kdy kdo kde co tak ten ta to ty tu te ti tim toho tomu tom by aby nebo take jen mi mu ho ji pri pro podle
    ktery ktera ktere kterou kterym ktereho kterych proc kolik jaky jaka jake jakou jako kdyz ani nas nam vas vam ja my
    vy ci komu koho ceho cim cem kam odkud nekdo neco"""
)
OTHERS = _words(
    """der die das und ist nicht ein eine mit auf ich wir sie zu den dem von fur le la les et est des une un pour que
    qui dans du el los las es por con para del una il che per non nie jest czy dla sie som sme ako"""
)
HEBREW = _words(
    """מי מה מתי איפה היכן למה מדוע איך כיצד כמה איזה איזו אילו האם של את על עם זה זאת זו הוא היא הם הן אני אתה אנחנו לא
    כן גם או אבל כי אם יש אין היה הייתה היו אל מן בין כל רק עוד אצל לפי שלי שלו שלה שלנו בגלל""".translate(
        FINAL_LETTERS
    )
)
NAMES = _words("will may")
"""Function words of English that with a capital may be something else."""
SIGNS_OF_ENGLISH = frozenset(form for word in ENGLISH - CZECH - OTHERS for form in (word, word.capitalize()))
"""Function words that mean nothing in another language, as they are written."""
SIGNS_OF_OTHERS = (CZECH | OTHERS) - ENGLISH - _words("ten pro ale take die den per non")
SIGNS = SIGNS_OF_ENGLISH | SIGNS_OF_OTHERS
