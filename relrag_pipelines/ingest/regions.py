"""Detects the countries that an archive is at home in, after its records were read.

Only months whose private records changed are looked at; what others tell is stored by stores/archive_regions.py.
"""

from __future__ import annotations

from relrag_pipelines.stores import archive_regions, lake
from relrag_pipelines.workspace import Workspace

VERSION = 1
"""raised when equal records tell something else"""


def refresh(workspace: Workspace) -> None:
    """Brings the stored regions up to date with the private records of all sources."""
    # imported only here: a sync that finds nothing to do has no need of the numbering plans
    from relrag_pipelines.pii import region_evidence

    home, keys, settings = workspace.home, workspace.keys, workspace.settings
    stored, evidence = archive_regions.load_evidence(home), archive_regions.Evidence()
    for source in settings.sources:
        for month, entry in lake.manifest(home, "private_records", source.name).items():
            name, made_from = f"{source.name}/{month}", [VERSION, keys.fingerprint, entry.output]
            evidence[name] = stored.get(name, {})
            if entry.output and evidence[name].get("made_from") != made_from:
                records = lake.read(home, "private_records", source.name, month, damaged=True)
                evidence[name] = {"made_from": made_from, **region_evidence.month_evidence(records, keys.id_hash)}
    counted = {name: month for name, month in evidence.items() if month}
    zones = [settings.timezone, *(source.timezone for source in settings.sources if source.timezone)]
    archive_regions.save(home, region_evidence.regions(counted.values(), zones), counted)
