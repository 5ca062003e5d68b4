"""deploy/: what can be checked without containers. Names, addresses, secrets and settings are those that exist."""

from __future__ import annotations

import re
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest
import yaml

from relrag_pipelines import settings as settings_module
from relrag_pipelines.settings import ENVIRONMENT_ONLY
from relrag_pipelines.ui import guard
from tests.conftest import ROOT

DEPLOY = ROOT / "deploy"
SECRETS = ("QDRANT_API_KEY", "POSTGRES_PASSWORD")
COMPOSE: dict[str, Any] = yaml.safe_load((DEPLOY / "compose.yaml").read_text())
SERVICES: dict[str, dict[str, Any]] = COMPOSE["services"]
PLACEHOLDER = re.compile(r"(?<!\$)\$\{(\w+)(?::([?-])([^}]*))?\}")


def given(name: str) -> dict[str, str]:
    """The environment of a service, its secrets set."""
    filled = {**dict.fromkeys(SECRETS, "s3cret"), "RELRAG_ARCHIVE": "/somewhere"}
    return {
        key: PLACEHOLDER.sub(lambda found: filled.get(found[1], ""), str(value))
        for key, value in SERVICES[name]["environment"].items()
    }


def test_the_services_are_these() -> None:
    assert SERVICES.keys() == {"qdrant", "postgres", "relrag"}
    assert COMPOSE.keys() == {"name", "services", "volumes"}


@pytest.mark.parametrize("name", SERVICES)
def test_every_service_is_pinned_watched_and_reached_from_this_machine_only(name: str) -> None:
    service = SERVICES[name]
    if "image" in service:
        assert re.fullmatch(r"[a-z/]+:v?\d+\.\d+[.\w-]*", service["image"])
    assert {"test", "interval", "timeout", "retries", "start_period"} == service["healthcheck"].keys()
    assert service["restart"] == "unless-stopped"
    assert all(port.startswith("127.0.0.1:") for port in service.get("ports", []))
    assert "network_mode" not in service
    assert "privileged" not in service


def test_the_base_image_is_pinned_and_what_is_copied_exists() -> None:
    lines = (DEPLOY / "Dockerfile").read_text().splitlines()
    (base,) = [line.split()[1] for line in lines if line.startswith("FROM ")]
    assert re.fullmatch(r"python:3\.1[123]\.\d+-slim-bookworm", base)
    copied = [name for line in lines if line.startswith("COPY ") for name in line.split()[1:-1]]
    assert "requirements.lock" in copied
    allowed = {line[1:] for line in (ROOT / ".dockerignore").read_text().splitlines() if line.startswith("!")}
    assert set(copied) == allowed
    assert all((ROOT / name).exists() for name in copied)
    environment = " ".join(lines)
    assert all(f"{name}=1" in environment for name in ("ORT_DISABLE_TELEMETRY", "HF_HUB_DISABLE_TELEMETRY"))
    assert any(line.startswith("USER ") and line != "USER root" for line in lines)


def test_no_secret_stands_in_it() -> None:
    """Each comes from the environment and is asked for where it is missing; the example is empty and complete."""
    asked = {found[1] for found in PLACEHOLDER.finditer((DEPLOY / "compose.yaml").read_text()) if found[2] == "?"}
    assert asked == {*SECRETS, "RELRAG_ARCHIVE"}
    for service in SERVICES.values():
        for key, value in service["environment"].items():
            if re.search(r"KEY$|PASSWORD|POSTGRES_URL", key):
                assert "${" in value, key
    example = [line.partition("=") for line in (DEPLOY / "env.example").read_text().splitlines() if "=" in line]
    assert {name for name, _, _ in example} == {*asked, "OPENAI_API_KEY", "COHERE_API_KEY", "RELRAG_UI_PUBLIC_URL"}
    assert {value for _, _, value in example} == {""}
    assert "deploy/*.env" in (ROOT / ".gitignore").read_text().splitlines()


def test_the_settings_are_known_and_do_what_is_meant(tmp_path: Path) -> None:
    environ = {key: value for key, value in given("relrag").items() if key != "RELRAG_CONFIG"}
    (tmp_path / "relrag.toml").write_text('archive = "family"\n')
    found = settings_module.load(tmp_path / "relrag.toml", environ)
    assert found.home_path == Path("/data/home")
    assert found.keys_path == Path("/keys/family.keys")
    assert (found.qdrant_url, found.dagster_storage) == ("http://qdrant:6333", "postgres")
    assert environ["DAGSTER_HOME"] == str(found.home_path / "dagster")
    assert environ["DAGSTER_POSTGRES_URL"] == "postgresql+psycopg2://dagster:s3cret@postgres:5432/dagster"
    others = {key for key in environ if not key.startswith("RELRAG_")} - {"DAGSTER_HOME"}
    assert others <= ENVIRONMENT_ONLY.keys()


def test_the_health_check_of_the_ui_is_answered() -> None:
    """It asks by a name and port that the guard knows, and for the one endpoint that needs no login."""
    command, watched = SERVICES["relrag"]["command"], SERVICES["relrag"]["healthcheck"]["test"][1]
    found = re.search(r"'http://([^/]+)(/[^']*)'", watched)
    assert found
    host, port = command[command.index("--host") + 1], int(command[command.index("--port") + 1])
    assert found[1] in guard.sites(host, port)
    assert found[2] == guard.HEALTH
    assert SERVICES["relrag"]["ports"] == [f"127.0.0.1:{port}:{port}"]


def test_the_proxies_that_are_shown_pass_what_the_guard_needs() -> None:
    """The name that was asked for, and WebSockets."""
    page = (ROOT / "docs" / "deploy.md").read_text()
    public = re.search(r'ui_public_url = "(https://[^"]+)"', page)
    assert public
    assert page.count(public[1].removeprefix("https://")) >= 3
    for line in ("proxy_set_header Host $host;", "proxy_set_header Upgrade $http_upgrade;", "proxy_http_version 1.1;"):
        assert line in page


def test_the_services_know_each_other() -> None:
    postgres, qdrant = given("postgres"), given("qdrant")
    assert (postgres["POSTGRES_USER"], postgres["POSTGRES_DB"]) == ("dagster", "dagster")
    assert qdrant["QDRANT__SERVICE__API_KEY"] == given("relrag")["QDRANT_API_KEY"]
    assert set(SERVICES["relrag"]["depends_on"]) == {"qdrant", "postgres"}
    used = {mount.split(":")[0] for service in SERVICES.values() for mount in service["volumes"] if mount[0] != "$"}
    assert used == COMPOSE["volumes"].keys()
    (archive,) = [mount for mount in SERVICES["relrag"]["volumes"] if mount.endswith(":ro")]
    assert archive.split("}:")[1] == "/archive:ro"


def test_nothing_reports_home() -> None:
    assert given("qdrant")["QDRANT__TELEMETRY_DISABLED"] == "true"
    for name in ("dagster.yaml", "dagster_postgres.yaml"):
        written = yaml.safe_load(
            (ROOT / "relrag_pipelines" / "orchestration" / name).read_text().replace("{folder}", "/home")
        )
        assert written["telemetry"] == {"enabled": False}
        assert written["nux"] == {"enabled": False}


def test_server_and_client_fit_together() -> None:
    """Qdrant promises it for a minor version's difference of one."""
    server = re.search(r":v(\d+)\.(\d+)", SERVICES["qdrant"]["image"])
    client = version("qdrant-client").split(".")
    assert server
    assert server[1] == client[0]
    assert abs(int(server[2]) - int(client[1])) <= 1


def test_the_commands_exist() -> None:
    """The options that the service is started with, and the check of the daemon."""
    command = SERVICES["relrag"]["command"]
    scripts = Path(sys.executable).parent
    helped = subprocess.run([scripts / command[0], command[1], "--help"], capture_output=True, text=True).stdout
    assert all(option in helped for option in command if option.startswith("--"))
    watched = SERVICES["relrag"]["healthcheck"]["test"][1]
    assert watched.endswith("dagster-daemon liveness-check")
    from dagster._daemon.cli import create_dagster_daemon_cli

    assert "liveness-check" in create_dagster_daemon_cli().commands


def test_the_check_of_qdrant_is_a_script_that_bash_understands(tmp_path: Path) -> None:
    """It succeeds on `200`, and on nothing else."""
    from tests.stores.qdrant import answering

    script = SERVICES["qdrant"]["healthcheck"]["test"][-1].replace("$$", "$")
    for status, code in ((200, 0), (503, 1)):
        with answering({"/readyz": (status, "")}) as (url, asked):
            port = url.rpartition(":")[2]
            done = subprocess.run(["bash", "-c", script.replace("6333", port)], capture_output=True, timeout=300)
        assert done.returncode == code
        assert asked == ["GET /readyz"]
