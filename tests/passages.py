"""Passages of a small invented archive, for tests of what is built from chunks."""

from collections.abc import Sequence
from datetime import UTC, datetime

import pandas as pd

from relrag_pipelines.chunking import chunk_id, text_hash
from relrag_pipelines.records import Chunk
from relrag_pipelines.stores.table_schema import to_table

DAY = 86_400
BEGUN = int(datetime(2024, 3, 1, 12, tzinfo=UTC).timestamp())


def passage(
    asset_id: str, text: str, index: int = 0, *, day: int | None = None, sender: str | None = None, **fields: object
) -> Chunk:
    """A chunk; `day` counts from 1 March 2024."""
    ts = None if day is None else BEGUN + day * DAY
    made = Chunk(
        chunk_id=chunk_id(asset_id, index),
        asset_id=asset_id,
        chunk_group_id=asset_id,
        chunk_index=index,
        chunk_count=1,
        text=text,
        text_hash=text_hash(text),
        source="notes",
        kind="document",
        rag_source_type="documentation",
        from_=sender,
        ts=ts,
        last_ts=ts,
        timestamp=None if ts is None else datetime.fromtimestamp(ts, UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
    )
    for name, value in fields.items():
        setattr(made, name, value)
    return made


def table(chunks: Sequence[Chunk]) -> pd.DataFrame:
    """Chunks as the lake gives them."""
    return to_table(list(chunks), Chunk).to_pandas()


HOUSE = [
    passage("n:1", "Dana Levi called the plumber. The boiler of the cabin is broken, Petr Kolar said.", day=0),
    passage("n:2", "Petr Kolar paid invoice INV-1187 for the boiler, 7,980 Kč. Dana Levi has the receipt.", day=1),
    passage("n:3", "The plumber repaired the boiler. The boiler leaked again. Invoice INV-1187 is paid.", day=2),
    passage("n:4", "Dana Levi asked the plumber for a boiler that heats. The boiler hums, the plumber shrugs.", day=3),
]
CHOIR = [
    passage("c:1", "Eva Nová leads the choir. The choir sings Janáček in Brno, Marek Dvořák plays.", day=10),
    passage("c:2", "In Brno the choir meets Marek Dvořák. Eva Nová bought scores, the scores of Janáček.", day=11),
    passage("c:3", "Marek Dvořák lost the scores. Eva Nová copied the scores for the choir, for Janáček.", day=12),
    passage("c:4", "Jarmila from Brno joined the choir, and Eva Nová wept over Janáček.", day=13),
]
HEBREW = [
    passage("h:1", "שירן תמיר קנתה כרטיסים להצגה. ההצגה בתל אביב, וגם דוד תמיר בא להצגה.", day=20),
    passage("h:2", "דוד תמיר שכח את הכרטיסים. ההצגה נדחתה, כרטיסים הוחלפו, אמרה שירן תמיר.", day=21),
    passage("h:3", "הכרטיסים אצל שירן תמיר, ההצגה ביום שני. דוד תמיר שמח על ההצגה.", day=22),
]
NOISE = [
    passage(f"x:{place}", f"Nothing of note happened on afternoon {place}.", day=30 + place) for place in range(12)
]
ARCHIVE = [*HOUSE, *CHOIR, *HEBREW, *NOISE]
