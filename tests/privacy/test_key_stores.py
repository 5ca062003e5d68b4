"""Keys outside the archive: in a file of the owner's alone, in the environment, or in the system's keyring."""

from __future__ import annotations

import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from types import SimpleNamespace

import pytest

from relrag_pipelines import settings as settings_module
from relrag_pipelines.privacy import keys as key_texts
from relrag_pipelines.privacy.key_stores import VARIABLE, KeyFile, Keyring, KeyVariable
from relrag_pipelines.privacy.keys import KeysError
from relrag_query.cli.commands import pii
from relrag_query.cli.commands.sync import sync
from tests import archive


class Backend(SimpleNamespace):
    """A keyring in memory, with the functions of the library that are used."""

    def __init__(self) -> None:
        self.held: dict[tuple[str, str], str] = {}

    def get_password(self, service: str, name: str) -> str | None:
        return self.held.get((service, name))

    def set_password(self, service: str, name: str, value: str) -> None:
        self.held[service, name] = value


@pytest.fixture
def backend(monkeypatch: pytest.MonkeyPatch) -> Backend:
    made = Backend()
    monkeypatch.setitem(sys.modules, "keyring", made)
    return made


def test_a_file_that_others_can_read_is_refused(tmp_path: Path) -> None:
    store = KeyFile(tmp_path / "a.keys")
    made = store.create()
    assert store.load() == made
    store.path.chmod(0o640)
    with pytest.raises(KeysError, match="can be read by others; run: chmod 600"):
        store.load()
    store.path.chmod(0o600)
    following = key_texts.next_keys(made)
    assert (following.version, following.ids) == ("k2", made.ids)
    store.replace(following)
    assert store.load() == following
    assert store.path.stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("text", ["", "{}", "[]", '{"version": "one", "ids": "00", "pseudonyms": "00"}'])
def test_what_is_no_key_is_named_without_its_text(text: str) -> None:
    with pytest.raises(KeysError, match=r"^here holds no keys of relrag, or cannot be read$"):
        key_texts.parse(text, "here")


@pytest.mark.usefixtures("without_dagster")
def test_keys_in_the_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    store = KeyVariable()
    monkeypatch.delenv(VARIABLE, raising=False)
    config = archive.make(tmp_path, extra='keys_store = "environment"\n')
    with pytest.raises(KeysError, match="RELRAG_KEYS is not set; for a new archive make some by `relrag pii new-keys`"):
        sync(config)
    capfd.readouterr()
    assert pii.new_keys() == 0
    said = capfd.readouterr()
    assert "keep a copy" in said.err
    monkeypatch.setenv(VARIABLE, said.out)
    assert sync(config) == 0
    workspace = archive.workspace(config)
    assert workspace.keys == store.load()
    assert not workspace.settings.keys_path.exists()
    capfd.readouterr()
    assert pii.rotate_key(config) == 0
    new = capfd.readouterr().out
    assert store.load().version == "k1"
    monkeypatch.setenv(VARIABLE, new)
    assert sync(config) == 0
    assert archive.workspace(config).keys.version == "k2"


@pytest.mark.usefixtures("without_dagster")
def test_keys_in_a_keyring(tmp_path: Path, backend: Backend) -> None:
    config = archive.make(tmp_path, extra='keys_store = "keyring"\n')
    assert sync(config) == 0
    (((service, name), stored),) = backend.held.items()
    assert (service, name) == ("relrag", "test")
    settings = settings_module.load(config)
    assert settings.key_store.load() == key_texts.parse(stored, "there") == settings.key_store.create()
    assert not settings.keys_path.exists()
    assert pii.rotate_key(config) == 0
    assert settings.key_store.load().version == "k2"


def test_two_first_users_of_a_keyring_get_the_same_keys(backend: Backend, tmp_path: Path) -> None:
    """Both look before either sets, unless one waits for the other."""
    both, made = threading.Barrier(2), list[str]()

    def look(service: str, name: str) -> str | None:
        if (service, name) not in backend.held:
            with suppress(threading.BrokenBarrierError):
                both.wait(0.2)
        return backend.held.get((service, name))

    def keep(service: str, name: str, value: str) -> None:
        made.append(value)
        backend.held[service, name] = value

    backend.get_password, backend.set_password = look, keep  # type: ignore[method-assign]
    store = Keyring("mine", tmp_path / "keys" / "lock")
    with ThreadPoolExecutor(2) as pool:
        one, other = pool.map(lambda _: store.create(), range(2))
    assert one == other == store.load()
    assert len(made) == 1


def test_a_keyring_that_cannot_be_used_is_named(
    backend: Backend, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def locked(*_: str) -> None:
        raise RuntimeError("the secret is hunter2")

    monkeypatch.setattr(backend, "get_password", locked, raising=False)
    with pytest.raises(KeysError, match=r"the keyring cannot be used \(RuntimeError\)") as raised:
        Keyring("mine", tmp_path / "lock").load()
    assert raised.value.__cause__ is raised.value.__context__ is None
    monkeypatch.setitem(sys.modules, "keyring", None)
    with pytest.raises(KeysError, match=r"install relrag\[keyring\]"):
        Keyring("mine", tmp_path / "lock").exists()
