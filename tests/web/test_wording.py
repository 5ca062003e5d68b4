"""The words of the pages: every language has those of English, and a page comes in the language of its reader."""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from relrag_pipelines import languages
from relrag_query.owner import settings_form
from relrag_query.web import rendering
from relrag_query.web.wording import TABLE, Text, flat, preferred, wording, written
from tests import archive
from tests.web_app import COOKIE, client

WEB = Path(rendering.__file__).parent
ENGLISH = flat(languages.table(languages.DEFAULT, "page")[TABLE])
PAGES = ["/", "/ask?q=Where+is+the+boiler%3F", "/search?q=boiler", "/people", "/graph", "/graphrag", "/archive"]
OWNER_PAGES = ["/archive/add?folder={home}&look=1", "/people/pairs", "/nothing"]


def forms(text: Text) -> Mapping[str, str]:
    """The forms of a text by their plural categories."""
    return {"other": text} if isinstance(text, str) else text


def signs(text: str) -> set[str]:
    """What is filled in, and what is code."""
    return set(re.findall(r"{\w+}|`[^`]*`", text))


def test_five_languages_have_the_words_of_the_pages() -> None:
    assert written() == {"cs", "de", "en", "es", "he"}


@pytest.mark.parametrize("code", sorted(written()))
def test_a_language_has_the_texts_of_english_with_the_same_signs(code: str) -> None:
    texts = flat(languages.table(code, "page")[TABLE])
    assert texts.keys() == ENGLISH.keys()
    assert [key for key, text in texts.items() if isinstance(text, str) != isinstance(ENGLISH[key], str)] == []
    every = [(key, form) for key, text in texts.items() for form in forms(text).values()]
    assert [key for key, form in every if form.count("`") % 2 or not form.strip()] == []
    # a number in words needs no sign; the noun of a record is no part of the sentence in every language
    left_out = {"{count}", "{noun}"}
    wrong = [
        (key, form)
        for key, form in every
        if not signs(form) <= signs(forms(ENGLISH[key])["other"])
        or not signs(forms(ENGLISH[key])["other"]) - left_out <= signs(form)
    ]
    assert wrong == []


@pytest.mark.parametrize("code", sorted(written()))
def test_a_language_has_the_plurals_that_its_numbers_need(code: str) -> None:
    words = wording(code)
    counts = {words.say("base.records", count) for count in (1, 2, 5, 1204)}
    assert len(counts) == 4
    assert all("{" not in text for text in counts)


def test_templates_ask_for_texts_that_exist() -> None:
    asked = {
        key
        for template in (WEB / "templates").iterdir()
        for key in re.findall(r'"([a-z]+\.[a-z_]+)"(?! ~)', template.read_text(encoding="utf-8"))
        if key.partition(".")[2] not in ("html", "js", "css")
    }
    assert len(asked) > 200
    assert asked - ENGLISH.keys() == set()
    script_texts = {
        f"script.{key}"
        for script in (WEB / "static").glob("*.js")
        for key in re.findall(r"\bwords\.([a-z_]+)", script.read_text(encoding="utf-8"))
    }
    assert script_texts == {key for key in ENGLISH if key.startswith("script.")}


def test_settings_and_jobs_are_named_in_each_language() -> None:
    asked = {f"{table}.{name}" for table in ("settings", "meaning") for name in settings_form.NAMES}
    asked |= {f"job.{name}" for name in ("sync", "backup", "forget", "retry")}
    assert asked - ENGLISH.keys() == set()
    german = wording("de")
    assert german.name_of("job", "backup") == "Sicherung"
    assert "off 03:30" in german.say("meaning.nightly")


def test_templates_hold_no_words_of_their_own() -> None:
    for template in (WEB / "templates").iterdir():
        text = re.sub(
            r"{% block (page|kind) %}.*?{% endblock %}|{#.*?#}|{%.*?%}|{{.*?}}",
            "",
            template.read_text(encoding="utf-8"),
            flags=re.DOTALL,
        )
        shown = re.sub(r"<(pre|title)[^>]*>.*?</\1>|<[^>]*>", " ", text, flags=re.DOTALL).replace("relrag", "")
        assert re.findall(r"[A-Za-z]{3,}", shown.partition("<!doctype html>")[2] or shown) == [], template
        labels = re.findall(r'(?:aria-label|title|placeholder|alt)="([^"]*)"', text)
        assert [label for label in labels if re.search("[a-z]", label)] == [], template


@pytest.mark.parametrize(
    ("header", "code"),
    [
        ("", "en"),
        ("he", "he"),
        ("he-IL,he;q=0.9,en-US;q=0.8", "he"),
        ("fr;q=0.9,es-MX;q=0.5", "es"),
        ("es;q=0.2, DE-at;q=0.7", "de"),
        ("cs;q=0, en", "en"),
        ("ja, zh;q=0.9", "en"),
        ("cs;q=x, ;;;=, *", "en"),
    ],
)
def test_the_browser_chooses_the_language(header: str, code: str) -> None:
    assert preferred(header) == code


def test_numbers_and_days_are_written_as_in_the_language() -> None:
    assert [wording(code).number(12500) for code in ("en", "es", "cs")] == ["12,500", "12.500", "12\xa0500"]
    assert wording("en").day("2025-01-15T10:12:00+01:00") == "15 January 2025, 10:12"
    assert wording("es").day("2025-01-15T10:12:00+01:00", clock=False) == "15 de enero de 2025"
    assert wording("he").day("2025-01-15") == "15 בינואר 2025"
    assert wording("he").say("base.records", 2) == "שתי רשומות"
    assert wording("cs").say("base.records", 3) == "3 záznamy"
    assert wording("fr").day(None) == "undated"
    assert [wording("cs").say("graph.most", count, all="*") for count in (2, 5)] == [
        *("2 osoby s nejvíce záznamy; *.", "5 osob s nejvíce záznamy; *."),
    ]


def test_a_noun_is_written_as_in_the_language() -> None:
    assert [wording(code).noun("") for code in ("en", "de", "cs")] == ["record", "Eintrag", "záznam"]


def test_what_is_filled_in_is_escaped() -> None:
    said = wording("en").say("home.happened_with", subject="<b>{count}`x`</b>\u202e")
    assert said == "What happened with &lt;b&gt;{count}`x`&lt;/b&gt;?"
    assert (
        wording("en").say("settings.fixed", variable="<X>")
        == "<code>&lt;X&gt;</code> in the environment counts instead."
    )


@pytest.fixture(scope="module")
def config(tmp_path_factory: pytest.TempPathFactory) -> Path:
    config = archive.make(tmp_path_factory.mktemp("wording"), "web_writes_enabled = true\n")
    archive.first_sync(config)
    return config


@pytest.fixture(scope="module")
def browser(config: Path) -> Iterator[TestClient]:
    with client(config) as opened:
        yield opened


@pytest.mark.parametrize("code", sorted(written()))
def test_every_page_comes_in_the_language(browser: TestClient, config: Path, code: str) -> None:
    direction = "rtl" if code == "he" else "ltr"
    for path in [*PAGES, *OWNER_PAGES]:
        page = browser.get(path.format(home=config.parent), headers={**COOKIE, "accept-language": f"{code},xx;q=0.5"})
        assert page.status_code in (200, 404), (path, page.text[:500])
        assert f'<html lang="{code}" dir="{direction}">' in page.text
        assert str(wording(code).say("base.themes")) in page.text


def test_examples_are_questions_in_the_language(browser: TestClient) -> None:
    page = browser.get("/", headers={**COOKIE, "accept-language": "es"}).text
    assert "¿Qué es lo más reciente de Dana Levi?" in page
    assert "%C2%BFQu%C3%A9+es+lo+m%C3%A1s+reciente+de+Dana+Levi%3F" in page
