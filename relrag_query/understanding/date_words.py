"""Words for months, days and lengths of time in English, Hebrew and Czech, the last without accents."""

from __future__ import annotations

MONTHS = (
    "january jan ינואר leden ledna lednu lednem",
    "february feb פברואר unor unora unoru unorem",
    "march mar מרץ מרס brezen brezna breznu breznem",
    "april apr אפריל duben dubna dubnu dubnem",
    "may מאי kveten kvetna kvetnu kvetnem",
    "june jun יוני cerven cervna cervnu cervnem",
    "july jul יולי cervenec cervence cervenci cervencem",
    "august aug אוגוסט srpen srpna srpnu srpnem",
    "september sept sep ספטמבר zari zarim",
    "october oct אוקטובר rijen rijna rijnu rijnem",
    "november nov נובמבר listopad listopadu listopadem",
    "december dec דצמבר prosinec prosince prosinci prosincem",
)
WEEKDAYS = (
    "monday|יום שני|pondeli",
    "tuesday|יום שלישי|utery",
    "wednesday|יום רביעי|stredu|streda",
    "thursday|יום חמישי|ctvrtek",
    "friday|יום שישי|patek",
    "saturday|יום שבת|sobotu|sobota",
    "sunday|יום ראשון|nedeli|nedele",
)
UNITS = {
    "day": "days day ימים יום dny dnem dnu dni",
    "week": "weeks week שבועות שבוע tydny tydnem tydnu",
    "month": "months month חודשים חודש mesici mesicem mesicu mesice",
    "year": "years year שנים שנה lety rokem roky let roku",
}
DUAL = {"יומיים": "day", "שבועיים": "week", "חודשיים": "month", "שנתיים": "year"}
COUNTS = {"a": 1, "an": 1, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "couple of": 2, "few": 3} | {
    "dvema": 2, "dva": 2, "dve": 2, "tremi": 3, "tri": 3, "ctyrmi": 4, "ctyri": 4, "peti": 5, "pet": 5, "nekolika": 3,
}  # fmt: skip

MONTH_NUMBER = {name: number for number, names in enumerate(MONTHS, 1) for name in names.split()}
WEEKDAY_NUMBER = {name: number for number, names in enumerate(WEEKDAYS) for name in names.split("|")}
UNIT_OF = {name: unit for unit, names in UNITS.items() for name in names.split()}
