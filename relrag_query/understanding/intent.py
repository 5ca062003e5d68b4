"""What a question asks for, by rules: words in English, Hebrew and Czech, and what was resolved. No model is called.

The intents decide how far the archive is followed from what was found: not at all for most questions, since every
step away from the hits brings in noise.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum

from relrag_query.understanding.time_expressions import bare


class QueryIntent(Enum):
    """What a question may ask for; one question may ask for several."""

    PERSON_FACTS = "person_facts"
    PERSON_HISTORY = "person_history"
    FAMILY_CONTEXT = "family_context"
    ASSET_THREAD = "asset_thread"
    ASSET_ATTACHMENT = "asset_attachment"
    CROSS_CHANNEL = "cross_channel"
    GENERAL = "general"


@dataclass(frozen=True)
class Expansion:
    """How far an intent may go from the hits."""

    relationships: bool = False
    """to the family of the people asked about"""
    person_scoped: bool = False
    """to what those people wrote or are named in"""
    threads: bool = False
    """to the thread that holds a hit"""
    attachments: bool = False
    """to what a hit is attached to, and what is attached to it"""
    references: bool = False
    """to what shares something rare with a hit, or names it, in any source"""
    depth: int = 0
    """hops in the edge table"""


EXPANSIONS = {
    QueryIntent.PERSON_FACTS: Expansion(),
    QueryIntent.PERSON_HISTORY: Expansion(person_scoped=True),
    QueryIntent.FAMILY_CONTEXT: Expansion(relationships=True, person_scoped=True, depth=1),
    QueryIntent.ASSET_THREAD: Expansion(threads=True, depth=1),
    QueryIntent.ASSET_ATTACHMENT: Expansion(attachments=True, depth=1),
    QueryIntent.CROSS_CHANNEL: Expansion(threads=True, attachments=True, references=True, depth=2),
    QueryIntent.GENERAL: Expansion(),
}

_HE = r"(?<!\w)[ובהלמשכ]{0,3}"
"""before a Hebrew word: it may carry prefix letters"""
_NAME = r"(?:[A-ZÀ-ÖØ-ÞĀ-Ž][\w'’-]+)"
_NOBODY = r"(?!(?:we|i|you|they|it|the|this|that|there|my|our|your)\b)"


def _any(*patterns: str) -> re.Pattern[str]:
    return re.compile(bare("|".join(patterns)), re.IGNORECASE)


_FAMILY = _any(r"\bfamil(?:y|ies)\b", r"\brelatives\b", _HE + r"משפח(?:ה|ת|תו|תה|תי)(?!\w)", r"\brodin\w*")
_KIN = _any(
    r"\b(?:wife|husband|spouse|kids?|child(?:ren)?|sons?|daughters?|parents?|mother|father|mum|mom|dad)\b",
    r"\b(?:brothers?|sisters?|siblings?|in-laws?|grand(?:mother|father|parents?|children|son|daughter)s?)\b",
    _HE + r"(?:אשתו|בעלה|ילד(?:ים|יו|יה|י)|הור(?:ים|יו|יה|י)|אחות(?:ו|ה|י)|אחיו|אחיה|(?:אמא|אבא|סבא|סבתא)\s+של)(?!\w)",
    r"\b(?:man[zž]el\w*|dět(?:i|em)|dětí|syn(?:a|ovi|em|ové|ů)?|dcer\w*|rodič\w*|bratr\w*|sestr(?:a|y|u|ou|ě)|sourozen\w*)\b",
)
_SOMEONES = _any(r"\b(?:my|our|his|her|their)\b", r"\b(?:můj|moje|moji|mou|mého|mé|náš|naše|jeho|její|jejich)\b")
_THREAD = _any(
    r"\bthreads?\b",
    r"\bcorrespondence\b",
    r"\b(?:whole|entire|full)\s+(?:conversation|discussion|exchange)\b",
    r"\b(?:e-?mail|message|mail)\s+(?:chain|exchange|conversation)\b",
    r"\bcontext\s+(?:around|of|for|surrounding)\b",
    r"\brepl(?:y|ies)\s+to\b",
    _HE + r"(?:שרשור|התכתבות|תכתובת|חליפת)",
    _HE + r"הקשר\s+(?:של|סביב)",
    r"\b(?:vlákn\w*|konverzac\w*|korespondenc\w*|souvislost\w*)",
)
_ATTACHMENT = _any(
    r"\battach(?:ment|ments|ed)\b",
    r"\benclos(?:ed|ure|ures)\b",
    _HE + r"(?:מצורף|מצורפת|מצורפים|צרופה|צרופות|נספח|נספחים|קובץ\s+מצורף)(?!\w)",
    r"\b(?:přílo\w*|přilož\w*)",
)
_CHANNELS = {
    "call": _any(
        r"\b(?:calls?|called|phoned?|phone\s+call|voicemail|on\s+the\s+phone)\b",
        _HE + r"(?:שיחת\s+טלפון|שיחה\s+טלפונית|שיחה|שיחות|בטלפון)(?!\w)",
        r"\b(?:hovor\w*|telefon\w*|volal\w*)",
    ),
    "mail": _any(
        r"\be-?mail(?:s|ed)?\b",
        r"\bmails?\b",
        _HE + r"(?:מייל|מיילים|אימייל|דוא[\"״]ל)(?!\w)",
        r"\be?-?mail(?:u|em|y|ů)\b",
    ),
    "chat": _any(
        r"\bwhats\s?app\w*",
        r"\bchats?\b",
        r"\btext(?:ed)?\s+messages?\b",
        _HE + r"(?:ווטסאפ|וואטסאפ|ווצאפ|צ['׳]אט|קבוצה)(?!\w)",
        r"\b(?:chatu|chatě|zpráv\w*)\b",
    ),
    "meeting": _any(
        r"\bmeetings?\b", _HE + r"(?:פגישה|פגישות|ישיבה|ישיבת)(?!\w)", r"\b(?:schůz\w*|porad(?:a|y|ě|u|ách))\b"
    ),
    "document": _any(
        r"\b(?:scan(?:ned|s)?|letters?|paperless)\b", _HE + r"(?:סריקה|מכתב)(?!\w)", r"\b(?:dopis\w*|sken\w*)"
    ),
    "commit": _any(r"\b(?:commits?|pull\s+requests?|repositor(?:y|ies))\b", r"\bcommit(?:u|em|ech)\b"),
}
_MAIL, _CHAT = frozenset({"email", "email_attachment"}), frozenset({"whatsapp"})
_CALL, _MEETING, _COMMIT = (
    frozenset({"call_recording"}), frozenset({"meeting_transcript"}), frozenset({"git_history", "code"}),
)  # fmt: skip
CHANNEL_NAMES = {_MAIL: "mail", _CHAT: "chat", _CALL: "call", _MEETING: "meeting", _COMMIT: "commit"}
"""types of records -> what one of them is called"""
_NO_ADDRESS = r"(?!\s+(?:address|of|for|server|account|password)\b)"
_SAID_IN = {
    _MAIL: _any(
        r"\b(?:in|by|via|from|through)\s+(?:[\w'’]+\s+){0,3}e?-?mails?\b" + _NO_ADDRESS,
        r"\be?-?mails?\s+(?:from|by|to|with)\b",
        r"\b(?:which|what|any|all|the|show|list)\s+e?-?mails?\b" + _NO_ADDRESS,
        r"^\W*(?:(?:all|my|new)\s+)*e?-?mails\b|\be-?mailed\b",
        r"\bdid\s+\w+(?:\s+\w+)?\s+e?-?mail\b",
        r"\b(?:v|ve|z|ze|po|do)\s+(?:\w+\s+){0,2}e?-?mail(?:u|ech|ů|em|y)?\b",
        r"\be?-?mailem\b",
        r"\be?-?mail(?:y|ů)?\s+(?:od|z|ze)\b",
        r"(?:^\W*|\b(?:jaké|které|jaký|který)\s+)e?-?mail(?:y|ů)?\b",
        r"(?<!\w)(?:ש?[במ]ה?|ה)(?:מיילים|מייל|אימיילים|אימייל|דוא[\"״]?ל)(?!\w)",
        r"(?<!\w)(?:אילו|איזה)\s+(?:מיילים|מייל|אימיילים|אימייל)(?!\w)",
    ),
    _CHAT: _any(
        r"\b(?:on|in|via|by|over|from|through)\s+(?:[\w'’]+\s+){0,3}(?:whats\s?app|chats?)\b",
        r"\bwhats\s?app\s+(?:messages?|chats?|groups?)\b|\bwhats\s?apped\b|\btexted\b|\btext\s+messages?\b",
        r"\b(?:na|v|ve|z|ze|přes|po)\s+(?:\w+\s+){0,2}(?:whats\s?app\w*|watsap\w*|chat(?:u|ě|ech)?)\b",
        r"(?<!\w)ש?[במ]ה?(?:ווטסאפ|וואטסאפ|ווצאפ|וואצאפ|צ['׳]אט)(?!\w)",
    ),
    _CALL: _any(
        r"\b(?:which|what|any|all|show|list)\s+(?:phone\s+)?calls\b|\b(?:jaké|které)\s+hovory\b",
        r"(?<!\w)(?:אילו|איזה)\s+שיחות(?!\w)",
        r"\b(?:on|in|during|from)\s+(?:\w+\s+){0,3}(?:calls?|recordings?)\b(?!\s+cent)",
        r"\b(?:on|over)\s+the\s+phone\b",
        r"\b(?:v|ve|z|ze|při|během)\s+(?:\w+\s+){0,3}(?:hovor(?:u|ech|ů)?|telefonát(?:u|ech|ů)?|nahráv(?:ce|kách|ky))\b",
        r"\bpo\s+telefonu\b",
        r"(?<!\w)ש?ב(?:שיחה|שיחת|שיחות|טלפון|הקלטה|הקלטת)(?!\w)",
    ),
    _MEETING: _any(
        r"\b(?:which|what|any|all|show|list)\s+meetings\b|\b(?:jaké|které)\s+(?:porady|schůzky)\b",
        r"(?<!\w)(?:אילו|איזה)\s+(?:פגישות|ישיבות)(?!\w)",
        r"\b(?:at|in|during|from)\s+(?:\w+\s+){0,3}meetings?\b",
        r"\b(?:in|from)\s+the\s+(?:\w+\s+)?minutes\b(?!\s+(?:after|before|of\s+the\s+game))",
        r"\b(?:na|v|ve|z|ze|při|během)\s+(?:\w+\s+){0,3}(?:porad(?:ě|y|ách)|schůz(?:ce|i|ky|kách)|zápis(?:e|u|ech))\b",
        r"(?<!\w)ש?ב(?:פגישה|פגישת|פגישות|ישיבה|ישיבת|ישיבות|פרוטוקול)(?!\w)",
    ),
    _COMMIT: _any(
        r"\b(?:in|by|with)?\s*(?:which|what)\s+commit\b",
        r"\b(?:in|from)\s+(?:\w+\s+){0,3}commits?\b",
        r"\bwho\s+(?:has\s+)?(?:committed|refactored|merged|reverted)\b",
        r"\b(?:v|ve|z|ze)\s+(?:\w+\s+){0,3}commit(?:u|ech|ů)\b",
        r"\b(?:který|jaký|kterým)\s+commit\w*",
        r"\bkdo\s+(?:sloučil|naprogramoval)\w*",
        r"(?<!\w)ב?(?:איזה|איזו)\s+קומיט(?!\w)",
        r"(?<!\w)מי\s+(?:מיזג|מיזגה)(?!\w)",
    ),
}
"""types of records -> how a question says that the answer stands in one of them"""
_LISTED = {
    frozenset({"email"}): _any(r"\be?-?mail(?:s|y|ů)\b", _HE + r"(?:אי)?מיילים(?!\w)"),
    frozenset({"email", "whatsapp"}): _any(r"\b(?:messages|zpráv[ya]?)\b", _HE + r"הודעות(?!\w)"),
    frozenset({"email_attachment", "whatsapp_attachment"}): _any(
        r"\b(?:attachments|přílohy|příloh)\b", _HE + r"(?:צרופות|קבצים\s+מצורפים)(?!\w)"
    ),
    _CALL: _any(r"\b(?:calls|hovory|hovorů)\b", _HE + r"שיחות(?!\w)"),
    _MEETING: _any(r"\b(?:meetings|porady|porad|schůzky|schůzek)\b", _HE + r"(?:פגישות|ישיבות)(?!\w)"),
    frozenset({"git_history"}): _any(r"\bcommit(?:s|y|ů)\b"),
    frozenset({"documentation"}): _any(
        r"\b(?:documents|files|dokumenty|dokumentů|soubory|souborů)\b", _HE + r"(?:מסמכים|קבצים)(?!\w)"
    ),
}
"""types of records -> how a question asks for a list of them"""
_ALSO = _any(
    r"\b(?:too|also|as\s+well|both|across|everywhere|besides)\b",
    r"(?<!\w)(?:גם|בנוסף)(?!\w)",
    r"\b(?:také|taky|rovněž|zároveň|i\s+(?:v|na|ve))\b",
)
_SECOND = _any(
    r"\band\s+(?:did|do|does|was|were|is|are|have|has|what|when|who|where|how|why)\b",
    r"\ba\s+(?:co|kdy|kdo|kde|jak|proč|kolik|jestli|zda)\b",
    r"(?<!\w)ו(?:האם|מה|מתי|מי|איפה|איך|כמה)(?!\w)",
)
"""where a second question begins"""
_FIGURE = _any(
    r"\b(?:when|how\s+(?:much|many|old|long|late|early)|what\s+(?:time|date|day|price|amount|number))\b",
    r"\b(?:kdy|kolik\w*|kolikát\w*)\b|\bv\s+kolik\b",
    r"(?<!\w)(?:מתי|כמה|בכמה|ממתי)(?!\w)|(?<!\w)באיז[הו]\s+(?:תאריך|שעה|יום)(?!\w)",
)
_FACTS = _any(
    r"\bhow\s+old\s+(?:is|was)\b",
    r"\bwhat\s+is\s+\w+['’]s\s+(?:age|birthday|address|job|phone|number|e-?mail|profession)\b",
    r"\b(?:birthday|date\s+of\s+birth|phone\s+number|e-?mail\s+address|home\s+address|profession|occupation)\b",
    r"\bwhere\s+(?:does|did|do)\s+\w+(?:\s+\w+)?\s+(?:live|work)\b",
    r"\b(?:when|where)\s+was\s+\w+(?:\s+\w+)?\s+born\b",
    r"\bwho\s+(?:is|was|are)\b",
    r"(?<!\w)(?:בן|בת)\s+כמה(?!\w)",
    r"(?<!\w)מי\s+(?:זה|זאת|זו|הוא|היא)(?!\w)",
    r"(?<!\w)(?:יום\s+ההולדת|יום\s+הולדת|מספר\s+הטלפון|איפה\s+(?:גר|גרה|עובד|עובדת)|מתי\s+נולדה?)(?!\w)",
    r"\bkolik\s+(?:je|bylo|let)\b.*\b(?:let|je|roků)\b",
    r"\bkdo\s+(?:je|byl|byla)\b",
    r"\b(?:narozenin\w*|kde\s+(?:bydlí|pracuje|žije)|kdy\s+se\s+narodil\w*|telefonní\s+číslo|adresa)\b",
)
_HISTORY = _any(
    rf"\b(?:what|when|where|why|how)\s+(?:did|has|have|does)\s+{_NOBODY}\w+(?:\s+\w+)?\s+(?:\w+\s+)?"
    r"(?:say|said|tell|told|write|written|send|sent|ask|asked|mention|mentioned|promise|promised|think|want|suggest)\b",
    rf"\b(?:messages?|e-?mails?|mails?|calls?)\s+(?:from|by|with)\s+{_NOBODY}\w+",
    rf"\bdid\s+{_NOBODY}\w+\s+(?:say|tell|write|send|ask|mention|promise|agree)\b",
    r"(?<!\w)(?:מה|מתי|למה|איך)\s+(?:\w+\s+)?(?:אמר|אמרה|כתב|כתבה|סיפר|סיפרה|שלח|שלחה|ביקש|ביקשה|הבטיח|הבטיחה)(?!\w)",
    r"\b(?:co|kdy|proč|jak)\s+(?:\w+\s+){0,3}"
    r"(?:řekl\w*|říkal\w*|napsal\w*|psal\w*|poslal\w*|chtěl\w*|slíbil\w*|zmínil\w*)",
)
_NAMED = re.compile(rf"(?<!^)(?<![.!?]\s)\b{_NAME}")


def classify_query_intent(
    query: str, resolved_entities: Sequence[object], resolved_assets: Sequence[object]
) -> list[QueryIntent]:
    """The intents of a question in the order of QueryIntent; GENERAL alone where no rule speaks.

    `resolved_entities` are the people that the question names, `resolved_assets` the refs of records, as far as known;
    a rule about people also accepts a word that looks like a name.
    """
    plain = bare(query)
    kinds = {str(ref).partition(":")[0] for ref in resolved_assets}
    channels = sum(pattern.search(plain) is not None for pattern in _CHANNELS.values())
    someone = bool(resolved_entities) or _looks_named(query)
    found = {
        QueryIntent.PERSON_FACTS: someone and _FACTS.search(plain),
        QueryIntent.PERSON_HISTORY: someone and _HISTORY.search(plain),
        QueryIntent.FAMILY_CONTEXT: _FAMILY.search(plain)
        or (_KIN.search(plain) and (someone or _SOMEONES.search(plain))),
        QueryIntent.ASSET_THREAD: _THREAD.search(plain),
        QueryIntent.ASSET_ATTACHMENT: _ATTACHMENT.search(plain),
        QueryIntent.CROSS_CHANNEL: len(kinds) > 1
        or channels > 1
        or (channels == 1 and (_ALSO.search(plain) or _in_second_question(plain))),
    }
    return [intent for intent, says in found.items() if says] or [QueryIntent.GENERAL]


def named_channel(query: str, intents: Sequence[QueryIntent]) -> frozenset[str]:
    """The types of records in which a question says that it was said: a mail, a chat, a call, a meeting, a commit.

    Nothing where it names several, or goes across channels: `and did we discuss it on the call too`.
    """
    plain = bare(query)
    found = [types for types, pattern in _SAID_IN.items() if pattern.search(plain)]
    return found[0] if len(found) == 1 and QueryIntent.CROSS_CHANNEL not in intents else frozenset()


def listed_types(query: str) -> frozenset[str]:
    """The types of records that a question for a list asks for: mails, messages, calls; nothing where it names none."""
    plain = bare(query)
    return frozenset[str]().union(*(types for types, pattern in _LISTED.items() if pattern.search(plain)))


def _in_second_question(plain: str) -> bool:
    """Whether a channel is named only in a second question: `and did we discuss it on the call?`."""
    second = _SECOND.search(plain)
    starts = [match.start() for pattern in _SAID_IN.values() if (match := pattern.search(plain))]
    return second is not None and bool(starts) and min(starts) > second.start()


def asks_for_value(query: str) -> bool:
    """Whether a question asks when or how much, so that a sentence with a date or a number rather answers it."""
    return _FIGURE.search(bare(query)) is not None


def expansion_for(intents: Sequence[QueryIntent]) -> Expansion:
    """The furthest that any of the intents goes, in each direction."""
    rules = [EXPANSIONS[intent] for intent in intents]
    return Expansion(
        relationships=any(rule.relationships for rule in rules),
        person_scoped=any(rule.person_scoped for rule in rules),
        threads=any(rule.threads for rule in rules),
        attachments=any(rule.attachments for rule in rules),
        references=any(rule.references for rule in rules),
        depth=max((rule.depth for rule in rules), default=0),
    )


def _looks_named(query: str) -> bool:
    """A capitalised word behind the first, or Hebrew letters, which have no capitals to tell a name by."""
    return _NAMED.search(query) is not None or re.search(r"[א-ת]", query) is not None
