"""Errors and failures on pages: each has a code, and each code has a text in every language of the pages."""

import ast
import re
from collections import defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from pydantic import TypeAdapter
from starlette.testclient import TestClient

import relrag_pipelines
import relrag_query
from relrag_pipelines import languages
from relrag_pipelines import settings as settings_module
from relrag_pipelines.records import Failure
from relrag_pipelines.sources import LEFT_OUT, LOST_ITEMS
from relrag_pipelines.stores import unit_state
from relrag_query.web.page_errors import REMEDY_OF
from relrag_query.web.wording import TABLE, commands, wording, written
from tests import archive
from tests.web_app import COOKIE, client

TREES = {
    path: ast.parse(path.read_text(encoding="utf-8"))
    for package in (relrag_pipelines, relrag_query)
    for path in Path(package.__path__[0]).rglob("*.py")
}
OF_PAGES_ALONE = {"unexpected"}
"""codes that no error has: page_errors.py itself chooses them"""
SHOWN = ("relrag_query/owner", "relrag_query/statements", "relrag_query/jobs", "relrag_query/web/pages.py")
"""where an error is raised that an owner sees on a page"""


def calls() -> Iterator[tuple[Path, str, ast.Call]]:
    """Every call of the packages with its file and the name of what is called."""
    for path, tree in TREES.items():
        for node in ast.walk(tree):
            if isinstance(node, ast.Call):
                yield path, getattr(node.func, "id", getattr(node.func, "attr", "")), node


def error_codes() -> dict[str, set[str]]:
    """Code of an error -> the names of what is filled in, as the packages raise it."""
    codes: dict[str, set[str]] = {}
    for _, _, call in calls():
        given = {keyword.arg: keyword.value for keyword in call.keywords if keyword.arg}
        code = given.pop("code", None)
        if isinstance(code, ast.Constant) and isinstance(code.value, str) and code.value:
            codes.setdefault(code.value, set()).update(given)
    return codes


def fault_words() -> set[str]:
    """The words that any call passes as `fault`, be they written there or constants of a module."""
    positions, constants = parameters("fault"), named_constants()
    words: set[str] = set()
    for _, name, call in calls():
        passed = [call.args[at] for at in positions.get(name, ()) if at < len(call.args)]
        passed += [keyword.value for keyword in call.keywords if keyword.arg == "fault"]
        for value in passed:
            words |= texts(value, constants)
    return {word for word in words if re.fullmatch("[a-z]+(_[a-z]+)*", word)}


def parameters(name: str) -> dict[str, set[int]]:
    """Function or class -> where a call of it has the parameter of that name."""
    positions: defaultdict[str, set[int]] = defaultdict(set)
    for node in (node for tree in TREES.values() for node in ast.walk(tree)):
        if isinstance(node, ast.ClassDef):
            fields = [entry.target.id for entry in node.body if is_field(entry)]
            made = [entry for entry in node.body if isinstance(entry, ast.FunctionDef) and entry.name == "__init__"]
            listed = [argument.arg for argument in made[0].args.args[1:]] if made else fields
        elif isinstance(node, ast.FunctionDef) and "self" not in [argument.arg for argument in node.args.args]:
            listed = [argument.arg for argument in node.args.args]
        else:
            continue
        if name in listed:
            positions[node.name].add(listed.index(name))
    return positions


def is_field(entry: ast.stmt) -> bool:
    return isinstance(entry, ast.AnnAssign) and isinstance(entry.target, ast.Name)


def named_constants() -> dict[str, set[str]]:
    """NAME -> the texts that modules give it."""
    constants: defaultdict[str, set[str]] = defaultdict(set)
    for node in (node for tree in TREES.values() for node in ast.walk(tree)):
        if isinstance(node, ast.Assign):
            for names, values in ((pair(target), pair(node.value)) for target in node.targets):
                for name, value in zip(names, values, strict=False):
                    if isinstance(name, ast.Name) and isinstance(value, ast.Constant):
                        constants[name.id].add(str(value.value))
    return constants


def pair(node: ast.expr) -> list[ast.expr]:
    return node.elts if isinstance(node, ast.Tuple) else [node]


def texts(node: ast.expr, constants: dict[str, set[str]]) -> set[str]:
    """The texts that an expression may be."""
    if isinstance(node, ast.Constant):
        return {str(node.value)}
    if isinstance(node, ast.IfExp):
        return texts(node.body, constants) | texts(node.orelse, constants)
    name = getattr(node, "id", getattr(node, "attr", ""))
    return constants.get(name, set()) if name.isupper() else set()


@pytest.mark.parametrize("code", sorted(written()))
def test_every_code_of_an_error_has_a_text_in_each_language(code: str) -> None:
    codes = error_codes()
    assert len(codes) > 65
    stated = languages.table(code, "page")[TABLE]["error"]
    assert set(stated) == codes.keys() | OF_PAGES_ALONE
    filled_in = {name: set(re.findall(r"{(\w+)}", text)) for name, text in stated.items()}
    assert {name: filled_in[name] - given for name, given in codes.items() if filled_in[name] - given} == {}


def test_every_error_that_an_owner_sees_has_a_code() -> None:
    without = [
        f"{path.name}:{node.lineno}"
        for path, tree in TREES.items()
        if any(part in str(path) for part in SHOWN)
        for node in ast.walk(tree)
        if isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call)
        if getattr(node.exc.func, "id", "").endswith(("Error", "Refused", "Reads", "Runs", "Step", "Large", "Ref"))
        and "AssertionError" not in ast.unparse(node.exc)
        and not any(keyword.arg == "code" for keyword in node.exc.keywords)
    ]
    assert without == []


@pytest.mark.parametrize("code", sorted(written()))
def test_every_fault_has_a_name_and_a_remedy_in_each_language(code: str) -> None:
    words = fault_words() | LEFT_OUT | LOST_ITEMS
    assert len(words) > 80
    table = languages.table(code, "page")[TABLE]
    assert words - set(table["fault"]) == set()
    assert set(table["fault"]) == REMEDY_OF.keys()
    assert set(table["remedy"]) == set(REMEDY_OF.values())


def test_a_value_is_shown_by_its_own_text() -> None:
    from relrag_query.jobs import JobRuns
    from relrag_query.people.indexed_person import PeopleError

    error = JobRuns("backup is at work already", code="job_runs", job="backup")
    assert wording("de").error(error) == "Sicherung läuft schon; warten Sie das Ende ab, oder brechen Sie ab."
    assert wording("he").error(PeopleError("no text of the pages")) == ""
    hostile = PeopleError("", code="nobody", name="{code}\u202e<b>")
    said = wording("en").error(hostile)
    assert said.startswith("Nobody is named “\u2068{code}<U+202E><b>\u2069”")
    assert commands(said).startswith("Nobody is named “<bdi>{code}&lt;U+202E&gt;&lt;b&gt;</bdi>”")
    assert "\u2068" not in commands("`relrag sync` \u2068")


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[str], TestClient]]:
    config = archive.make(tmp_path_factory.mktemp("errors"), "web_writes_enabled = true\n")
    archive.first_sync(config)
    home = settings_module.load(config).home_path
    unit_state.save_failures(
        home, "papers", [Failure("page 3", "encrypted", "the file has a password", "papers", "a.pdf")]
    )
    with client(config) as opened:

        def in_language(code: str) -> TestClient:
            opened.headers = {**COOKIE, "accept-language": code}
            return opened

        yield in_language


def test_a_failure_is_named_in_hebrew_and_in_spanish(browser: Callable[[str], TestClient]) -> None:
    hebrew, spanish = browser("he").get("/archive").text, browser("es").get("/archive").text
    assert '<span class="noun">מוצפן</span>' in hebrew
    assert "<td>1 מוצפן</td>" in hebrew
    assert "שמרו אותו ללא סיסמה או מפוענח, ואז סנכרנו." in hebrew
    assert '<span class="noun">cifrado</span>' in spanish
    assert "Guárdelo sin contraseña o descifrado y sincronice." in spanish
    assert '<span class="faint" lang="en" dir="auto">the file has a password</span>' in spanish
    assert "Save it without a password" not in browser("en").get("/archive").text


def test_an_action_that_is_refused_says_so_in_the_language(browser: Callable[[str], TestClient]) -> None:
    merge = {"into": "Dana Levi", "others": ["Nobody Here"]}
    hebrew = browser("he").post("/owner/merge", json=merge)
    assert hebrew.status_code == 404
    assert hebrew.json()["detail"] == "אין מי ששמו ״\u2068Nobody Here\u2069״; עמוד האנשים מציג את כולם."
    spanish = browser("es").post("/owner/merge", json=merge).json()["detail"]
    assert spanish == "Nadie se llama «\u2068Nobody Here\u2069»; la página de personas muestra quién hay."
    wrong = browser("es").post("/owner/change_settings", json={"values": {"timezone": "Europe/Nowhere"}}).json()
    assert wrong["detail"] == "Zona horaria: este valor no se puede usar; al lado se explica qué significa."
    empty = browser("cs").post("/owner/merge", json={"into": "", "others": []})
    assert (empty.status_code, empty.json()["detail"][:15]) == (422, "Pole je prázdné")
    assert empty.json()["errors"][0] == {"field": "into", "error": "String should have at least 1 character"}


def test_a_fault_of_relrag_is_no_wrong_field(
    browser: Callable[[str], TestClient], monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        TypeAdapter(int).validate_python("private")

    monkeypatch.setattr("relrag_query.service.Service.person", fail)
    page = browser("en").get("/person?name=Dana")
    assert page.status_code == 500
    assert "This is a fault of relrag" in page.text
    assert "ValidationError" in page.text
    assert "private" not in page.text


def test_a_page_that_is_not_there_says_so_in_the_language(browser: Callable[[str], TestClient]) -> None:
    page = browser("es").get("/record?ref=mail:nothing")
    assert page.status_code == 404
    assert "El archivo ya no tiene nada llamado «<bdi>mail:nothing</bdi>»; búsquelo." in page.text
    assert "“<bdi>abc</bdi>” ist kein Datum" not in browser("de").get("/search?q=boiler&from=abc").text
    assert "„<bdi>abc</bdi>“ ist kein Datum" in browser("de").get("/search?q=boiler&from=abc").text


@pytest.fixture
def of_two(tmp_path: Path) -> Iterator[TestClient]:
    """A browser over an archive with two people called Anna."""
    config = archive.make(tmp_path, "web_writes_enabled = true")
    chat = "13/01/2024, 10:15 - {0}: Who has the key?\n13/01/2024, 10:16 - Petr Kolar: I do\n"
    for name in ("Anna Berger", "Anna Costa"):
        (tmp_path / "chats" / f"WhatsApp Chat with {name}.txt").write_text(chat.format(name))
    archive.first_sync(config)
    with client(config) as opened:
        opened.headers |= COOKIE
        yield opened


def test_a_name_of_several_people_offers_them(of_two: TestClient) -> None:
    for path in ("/search?q=key&person=Anna", "/ask?q=Who+has+the+key%3F&person=Anna", "/person?name=Anna"):
        answer = of_two.get(path)
        page = answer.text
        assert answer.status_code == 300, path
        assert "“<bdi>Anna</bdi>” may be any of these; choose one." in page, path
        offered = re.findall(r'<li><a href="([^"]+)"><bdi>(Anna \w+)</bdi></a> <span class="faint">(.*?)</span>', page)
        assert {name: about for _, name, about in offered} == {
            "Anna Berger": "1 record, 13 January 2024",
            "Anna Costa": "1 record, 13 January 2024",
        }, path
        for to, _, _ in offered:
            assert of_two.get(to.replace("&amp;", "&")).status_code == 200, to
    streamed = of_two.get("/ask/stream?q=Who+has+the+key%3F&person=Anna").text
    assert "/ask?q=Who" in streamed
    assert "event: answer" in streamed


def test_all_names_of_a_person_cannot_be_split_off(of_two: TestClient) -> None:
    for alias, code in (("Petr Kolar", "alias_last"), ("Nobody", "alias_absent")):
        answer = of_two.post("/owner/split", json={"person": "Petr Kolar", "aliases": [alias]})
        assert answer.json()["code"] == code, answer.text


def test_a_merge_with_a_name_of_several_people_names_them(of_two: TestClient) -> None:
    answer = of_two.post("/owner/merge", json={"into": "Petr Kolar", "others": ["Anna"]})
    assert answer.status_code == 409
    choices = sorted(answer.json()["choices"], key=lambda choice: str(choice["name"]))
    assert [(choice["name"], choice["typed"]) for choice in choices] == [
        ("Anna Berger", "Anna"),
        ("Anna Costa", "Anna"),
    ]
    body = {"into": "Petr Kolar", "others": [choices[0]["number"]]}
    assert of_two.post("/owner/merge", json=body).status_code == 200
