"""Dagster's UI as `relrag ui` starts it, for proofs: what a browser sends to it, and what its instance holds."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import urllib.request
from pathlib import Path
from typing import Any

import dagster as dg

from relrag_pipelines.orchestration.runner import instance
from tests.processes import wait

LAUNCH = """
mutation ($params: LaunchBackfillParams!) {
  launchPartitionBackfill(backfillParams: $params) {
    __typename
    ... on LaunchBackfillSuccess { backfillId }
    ... on PythonError { message }
    ... on UnauthorizedError { message }
  }
}
"""
RETRY = """
mutation ($params: ReexecutionParams!) {
  reexecutePartitionBackfill(reexecutionParams: $params) {
    __typename
    ... on LaunchBackfillSuccess { backfillId }
    ... on PythonError { message }
  }
}
"""
CANCEL = "mutation ($id: String!) { cancelPartitionBackfill(backfillId: $id) { __typename } }"


class DagsterUI:
    """The UI of one archive on one port."""

    def __init__(self, config: Path, home: Path, port: int, storage: str = "sqlite", **environment: str) -> None:
        self._home, self._port, self._storage = home, port, storage
        relrag = str(Path(sys.executable).with_name("relrag"))
        self._command = [relrag, "ui", "--port", str(port), "--config", str(config)]
        self._environment = {**os.environ, **environment}
        self.process = self._start()

    def _start(self) -> subprocess.Popen[bytes]:
        """In a process group of its own, once it answers."""
        process = subprocess.Popen(self._command, env=self._environment, start_new_session=True)
        wait("the UI answers", lambda: process.poll() is not None or self._answers())
        assert process.poll() is None, "relrag ui has ended"
        return process

    def _answers(self) -> bool:
        try:
            self.ask("{ version }", {})
        except (OSError, subprocess.CalledProcessError):
            return False
        return True

    def stop(self) -> None:
        """As Ctrl-C does."""
        self.process.send_signal(signal.SIGTERM)
        self.process.wait()

    def kill(self) -> None:
        """Kills it and all that it has started."""
        os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()

    def restart(self) -> None:
        """Starts it again."""
        self.process = self._start()

    def ask(self, query: str, variables: dict[str, Any]) -> dict[str, Any]:
        """What the web server answers to a browser that is logged in."""
        browser = urllib.request.build_opener(urllib.request.HTTPCookieProcessor())
        link = subprocess.run([*self._command, "--login"], capture_output=True, text=True, check=True).stdout.strip()
        browser.open(link, timeout=60).close()
        body = json.dumps({"query": query, "variables": variables}).encode()
        address = f"http://127.0.0.1:{self._port}/graphql"
        request = urllib.request.Request(address, body, {"Content-Type": "application/json"})
        with browser.open(request, timeout=120) as response:
            data: dict[str, Any] = json.load(response)["data"]
        return data

    def launch(self, assets: list[list[str]], partitions: list[str]) -> str:
        """What the UI's page of a backfill does; returns the backfill's id."""
        params = {"assetSelection": [{"path": path} for path in assets], "partitionNames": partitions}
        return str(self.ask(LAUNCH, {"params": params})["launchPartitionBackfill"]["backfillId"])

    def retry(self, backfill: str) -> str:
        """What the UI's button "Re-execute from failure" does; returns the new backfill's id."""
        params = {"parentRunId": backfill, "strategy": "FROM_FAILURE"}
        return str(self.ask(RETRY, {"params": params})["reexecutePartitionBackfill"]["backfillId"])

    def cancel(self, backfill: str) -> None:
        """What the UI's button "Cancel backfill" does."""
        assert self.ask(CANCEL, {"id": backfill})["cancelPartitionBackfill"]["__typename"] == "CancelBackfillSuccess"

    def runs(self, backfill: str, *statuses: str) -> list[dg.DagsterRun]:
        """The runs of a backfill with one of these statuses."""
        with instance(self._home, self._storage) as shared:
            found = shared.get_runs(dg.RunsFilter(tags={"dagster/backfill": backfill}))
        return [run for run in found if not statuses or run.status.value in statuses]

    def seconds(self, backfill: str) -> float:
        """How long the runs of a backfill took, from their start to their end."""
        with instance(self._home, self._storage) as shared:
            records = shared.get_run_records(dg.RunsFilter(tags={"dagster/backfill": backfill}))
        return sum((record.end_time or 0) - (record.start_time or 0) for record in records if record.start_time)

    def status(self, backfill: str) -> str:
        """The status of a backfill."""
        with instance(self._home, self._storage) as shared:
            found: Any = shared.get_backfill(backfill)
        return str(found.status.value)

    def has_ended(self, backfill: str) -> bool:
        """Whether a backfill has ended, in whatever way."""
        return self.status(backfill) not in ("REQUESTED", "FAILING", "CANCELING")

    def months(self, source: str, stage: str) -> set[str]:
        """The months of a stage that are made."""
        with instance(self._home, self._storage) as shared:
            return set(shared.get_materialized_partitions(dg.AssetKey([source, stage])))
