"""Every setting, declared once: its default, its meaning, where it may be set."""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Iterable
from datetime import date, timedelta
from pathlib import Path
from typing import Any, Literal
from urllib.parse import urlsplit
from zoneinfo import ZoneInfo

from pydantic import BaseModel, ConfigDict, Field, PrivateAttr, ValidationInfo, field_validator, model_validator

from relrag_pipelines import languages
from relrag_pipelines.errors import SafeError
from relrag_pipelines.privacy.key_stores import KeyFile, Keyring, KeyStore, KeyVariable
from relrag_pipelines.privacy.loopback import is_loopback_url
from relrag_pipelines.settings.policy_presets import POLICIES, PRESETS, Policy
from relrag_pipelines.sources import KINDS, Kind
from relrag_pipelines.sources.remote.mirror import items_folder
from relrag_pipelines.stores.shared_key_edges import MAX_RECORDS

CONFIG_NAME = "relrag.toml"
OFF = "off"
"""the time of a schedule that does not run"""
BUILT_IN = ("e5", "minilm")
_DEFAULT_LANGUAGE = languages.language(languages.DEFAULT).name.capitalize()
_FORMER = frozenset({"answer_min_coverage", "golden_margin"})
"""embedders that need no account and send nothing"""
STRUCTURED = frozenset(
    {"folder", "sources", "pii_policies", "pii_allow_list", "pii_regions", "graphrag", "people", "web_users"}
)
"""settings that are no single value, and the folder, which is not set by anyone"""
COLLECTION_NAME = re.compile(r"[a-z][a-z0-9_]{0,62}")
"""of a GraphRAG index"""


class SettingsError(SafeError):
    """relrag.toml or the environment is wrong; the message names the place, what was found and what is known."""


class Source(BaseModel):
    """One `[[sources]]` table of relrag.toml."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: str = Field(
        description="its name in Dagster, in the lake and in --source: letters, digits and _", examples=["family"]
    )
    kind: str = Field(description="what reads it", examples=["whatsapp"])
    path: Path = Field(
        Path(),
        description="a file or a folder, relative to the folder of relrag.toml; required unless `url` names a server",
        examples=["exports/whatsapp"],
    )
    timezone: str | None = Field(
        None, description="time zone of local times in it; else the archive's", examples=["Europe/Prague"]
    )
    channel: str | None = Field(
        None, description="redaction policy to use; else the one of what was read", examples=["default"]
    )
    retain: bool = Field(False, description="keep records whose file has vanished")
    date_order: Literal["auto", "dmy", "mdy", "ymd"] = Field(
        "auto", description="whatsapp only: order of day and month where the chat itself does not tell"
    )
    file_names: list[str] = Field(
        default_factory=list,
        description="call_recording only: how its files are named, such as `{who}_{yyyy}{mm}{dd}-{HH}{MM}{SS}`; "
        "tried before the usual ones",
    )
    approval_required: bool = Field(
        False, description="call_recording only: index a transcript only after `relrag calls approve`"
    )
    exclude: list[str] = Field(
        default_factory=list,
        description="files and folders in it that are not read, as glob patterns of their paths",
        examples=[["drafts", "*.csv"]],
    )
    follow_links: bool = Field(False, description="read what links in it lead to outside of its folder")
    paused: bool = Field(False, description="syncs leave it as it is: its records stay, and its files are not read")
    open_zips: bool = Field(
        False,
        description="read files of its kind in zips and tars (.tar, .tgz) too, such as those of a Takeout, and in "
        "archives in these; copies of them are in private/mirror",
    )
    url: str = Field(
        "",
        description="paperless, imap, gmail, whatsapp: server to read instead of `path`. legacy: the Qdrant server of "
        "the collection; `path` is then a file in which `relrag backfill legacy` notes its state",
    )
    user: str = Field("", description="imap only: name of the account")
    folders: list[str] = Field(
        default_factory=list,
        description="imap only: folders to read, as glob patterns; else all but Spam and Trash",
    )
    ca_file: str = Field(
        "",
        description="certificates (PEM) by which the server of `url` is trusted, instead of the system's",
    )
    collection: str = Field("", description="legacy only: the collection on that server")
    _own_folders: frozenset[str] = PrivateAttr(frozenset())

    @property
    def own_folders(self) -> frozenset[str]:
        """Folders in it that relrag itself writes, relative to the source's path; none of them is read."""
        return self._own_folders

    def leave_out(self, folders: Iterable[str]) -> None:
        """Sets `own_folders`."""
        self._own_folders = frozenset(folders)

    def excludes(self, path: str) -> bool:
        """Whether `exclude` names that path, relative to the source's, or a folder that it lies in.

        So are the folders that relrag itself writes, such as that of the backups.
        """
        if any(f"{path}/".startswith(f"{folder}/") for folder in self._own_folders):
            return True
        if not self.exclude:
            return False
        parts = path.split("/")
        prefixes = ["/".join(parts[:end]) for end in range(1, len(parts) + 1)]
        return any(fnmatch.fnmatch(prefix, pattern) for pattern in self.exclude for prefix in prefixes)

    @field_validator("name")
    @classmethod
    def _plain_name(cls, name: str) -> str:
        if not re.fullmatch(r"[a-z][a-z0-9_]{0,62}", name) or name in {"catalog", "published"}:
            raise ValueError(f'is "{name}"; use lower-case letters, digits and _, beginning with a letter')
        return name

    @field_validator("kind")
    @classmethod
    def _known_kind(cls, kind: str) -> str:
        if kind not in KINDS:
            raise ValueError(f'is "{kind}"; known kinds: {", ".join(sorted(KINDS))}')
        return kind

    @field_validator("file_names")
    @classmethod
    def _patterns(cls, templates: list[str]) -> list[str]:
        for template in templates:
            # imported only where a source has patterns: the connector needs libraries that settings do not
            from relrag_pipelines.sources.call_filenames import pattern

            pattern(template)
        return templates

    @field_validator("timezone")
    @classmethod
    def _known_zone(cls, zone: str | None) -> str | None:
        return zone if zone is None else _zone(zone)

    @field_validator("url")
    @classmethod
    def _address(cls, url: str, known: ValidationInfo) -> str:
        kind = KINDS.get(known.data.get("kind", ""))
        if url and kind and kind.url_schemes:
            return _require_address(url, kind.url_schemes)
        return _plain_address(url, "QDRANT_SOURCE_API_KEY")

    @property
    def is_fetched(self) -> bool:
        """Whether it is on a server, of which a mirror is kept."""
        return bool(self.url) and bool(KINDS[self.kind].fetcher)

    @property
    def is_mirrored(self) -> bool:
        """Whether a mirror is kept of what it reads: of a server, or of files in zips."""
        return self.is_fetched or self.open_zips

    @property
    def host(self) -> str:
        """Host and port of its server."""
        return urlsplit(self.url).netloc

    @model_validator(mode="after")
    def _readable_place(self) -> Source:
        kind = KINDS[self.kind]
        if kind.fetcher:
            self._check_server(kind)
        else:
            self._check_collection(kind)
        if "path" not in self.model_fields_set and not self.is_fetched:
            raise ValueError("has no path; name the file or folder that it reads")
        if self.open_zips and (self.is_fetched or kind.discovers_units):
            raise ValueError("has open_zips, which is for files of a folder only; leave it out")
        if self.user and not kind.always_remote:
            raise ValueError("has user, which is for kind imap only; leave it out")
        return self

    def _check_server(self, kind: Kind) -> None:
        """Of a kind that reads servers: an address that can be read, or a path."""
        if self.collection:
            raise ValueError("has collection, which is for kind legacy only; leave it out")
        if self.url and "path" in self.model_fields_set:
            raise ValueError("has path and url; leave out path to read the server, url to read files")
        if kind.always_remote and not (self.url and self.user):
            raise ValueError('needs url and user, such as "imaps://imap.example.org" and "dana@example.org"')

    def _check_collection(self, kind: Kind) -> None:
        for name, other in (("url", "collection"), ("collection", "url")):
            if getattr(self, name) and "url" not in kind.options:
                raise ValueError(f"has {name}, which kind {kind.name} does not read; leave it out")
            if getattr(self, name) and not getattr(self, other):
                raise ValueError(f"has {name} without {other}; a collection on a server needs both")


class Collection(BaseModel):
    """One `[graphrag.collections.<name>]` table of relrag.toml: what a GraphRAG index is made of."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    sources: list[str] = Field(default_factory=list, description="only these sources", examples=[["family"]])
    kinds: list[str] = Field(default_factory=list, description="only these kinds", examples=[["whatsapp", "gmail"]])
    since: str = Field("", description="nothing earlier: 2024, 2024-03 or 2024-03-15", examples=["2024"])
    until: str = Field("", description="nothing later: 2024, 2024-03 or 2024-03-15", examples=["2024-12"])

    @field_validator("kinds")
    @classmethod
    def _known_kinds(cls, kinds: list[str]) -> list[str]:
        if wrong := [kind for kind in kinds if kind not in KINDS]:
            raise ValueError(f'names "{wrong[0]}"; known kinds: {", ".join(sorted(KINDS))}')
        return kinds

    @field_validator("since", "until")
    @classmethod
    def _span(cls, day: str) -> str:
        if day:
            days(day)
        return day

    def holds(self, source: Source) -> bool:
        """Whether it is made of that source, too."""
        return (not self.sources or source.name in self.sources) and (not self.kinds or source.kind in self.kinds)


class GraphRAG(BaseModel):
    """The `[graphrag]` table of relrag.toml."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    method: Literal["off", "fast", "llm"] = Field(
        "off",
        description="how indexes are made after publishing; fast: by statistics, nothing leaves this machine; "
        "llm: by a language model, which is sent the redacted text of passages",
    )
    service: Literal["openai", "cohere"] = Field("openai", description="llm: whose protocol the model speaks")
    model: str = Field("", description="llm: the model; else the service's usual one")
    url: str = Field("", description="llm: another server that speaks the protocol, https://.../v1")
    token_budget: int = Field(
        1_000_000, ge=0, description="llm: tokens that a sync may spend at most on each index; the next one goes on"
    )
    gleanings: int = Field(1, ge=0, le=5, description="llm: how often it is asked again what is missing")
    claims: bool = Field(
        False, description="llm: it is asked for claims, too; they become the table covariates, and take more tokens"
    )
    collections: dict[str, Collection] = Field(
        default_factory=lambda: {"archive": Collection.model_validate({})},
        description="indexes by name; where none is given, one named archive, of everything",
    )

    @field_validator("collections")
    @classmethod
    def _plain_names(cls, collections: dict[str, Collection]) -> dict[str, Collection]:
        for name in collections:
            if not COLLECTION_NAME.fullmatch(name):
                raise ValueError(f'has "{name}"; use lower-case letters, digits and _, beginning with a letter')
        return collections

    @property
    def own_collections(self) -> dict[str, Collection]:
        """The collections that are to be made, in order."""
        return {} if self.method == "off" else dict(sorted(self.collections.items()))


class People(BaseModel):
    """The `[people]` table of relrag.toml."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    method: Literal["patterns", "llm"] = Field(
        "patterns",
        description="how texts are read for facts and relationships; patterns: few and sure ones, nothing leaves this "
        "machine; llm: by a language model too, which is sent the redacted text of passages",
    )
    service: Literal["openai", "cohere"] = Field("openai", description="llm: whose protocol the model speaks")
    model: str = Field("", description="llm: the model; else the service's usual one")
    url: str = Field("", description="llm: another server that speaks the protocol, https://.../v1")
    token_budget: int = Field(
        1_000_000, ge=0, description="llm: tokens that a sync may spend at most; the next one goes on"
    )


class Settings(BaseModel):
    """All settings of one archive."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    archive: str = Field(
        "archive", description="name of the archive; its keys are stored under it: letters, digits, -, _ and ."
    )
    home: Path = Field(
        Path(".relrag"), description="where everything derived and private is kept; relative to relrag.toml"
    )
    home_lake: str = Field(
        "",
        description="a bucket that keeps the redacted lake too, such as s3://bucket/folder, with relrag[s3]; "
        "credentials and endpoint come from the standard AWS variables. What is published stays in `home`, and what is "
        "private unless `home_lake_private`",
    )
    home_lake_private: bool = Field(
        False,
        description="keep the private files in that bucket too, each encrypted with the archive's keys; a machine "
        "without any starts from them",
    )
    keys_file: Path = Field(
        Path("~/.config/relrag/{archive}.keys"),
        description="the keys of ids and pseudonyms; outside home; without it an archive cannot be continued",
    )
    keys_store: Literal["file", "environment", "keyring"] = Field(
        "file",
        description="where the keys are kept; file: `keys_file`; environment: the variable `RELRAG_KEYS`; keyring: the "
        "system's, with relrag[keyring]",
    )
    owner: str = Field("", description="whose archive it is; what `me` and `I` mean in a question")
    person_unnamed_after: int = Field(
        10, ge=1, description="records after which whoever sent them is a person although nobody named them"
    )
    timezone: str = Field("UTC", description="the owner's time zone: local times in exports, `last week`, display")
    first_month: str = Field(
        "2000-01", description="first monthly partition (YYYY-MM); earlier and undated records go there"
    )
    sources: list[Source] = Field(default_factory=list, description="what is read; one table for each")

    pii_redaction_enabled: bool = Field(
        False, description="redact before anything leaves private/; `relrag init` writes true"
    )
    pii_preset: Literal["balanced", "strict"] = Field(
        "balanced",
        description="policies to start from; balanced: each channel its own, mails keep their addresses; strict: "
        "the same in every channel, accounts and company numbers too",
    )
    pii_policies: dict[str, Policy] = Field(
        default_factory=lambda: {name: Policy.model_validate(policy) for name, policy in POLICIES.items()},
        description="policy of each channel, in place of the preset's; a channel without one uses `default`",
    )
    pii_allow_list: list[str] = Field(
        default_factory=list,
        description="values that are nobody's secret and stay as they stand, such as the number of a shop",
        examples=[["*2700", "info@example.com"]],
    )
    pii_regions: list[str] = Field(
        default_factory=list,
        description="countries (ISO 3166-1) whose national phone numbers and ids count without words around them; else "
        "those that the archive itself tells of: codes of countries in its numbers, its languages and time zones",
        examples=[["ES", "PT"]],
    )
    pii_recognizers: str = Field(
        "", description="a YAML file with recognisers of your own; docs/privacy.md shows its form"
    )
    pii_language_model: str = Field(
        "",
        description="a YAML file that names a language model on this machine, for PERSON, LOCATION and others; "
        "docs/privacy.md shows its form",
    )

    chunk_tokens: int = Field(256, ge=32, le=8192, description="longest passage, in words and marks")
    chunk_overlap_sentences: int = Field(1, ge=0, le=10, description="sentences repeated at the start of the next")
    embedder: Literal["none", "e5", "minilm", "fastembed", "openai", "cohere"] = Field(
        "e5",
        description="dense vectors, for search by meaning; e5: built in, all languages, nothing leaves this machine; "
        f"minilm: built in, {_DEFAULT_LANGUAGE}, a third faster; fastembed: any ONNX model; "
        "openai and cohere send the redacted "
        "text of passages and questions to that service; none: words only (sparse)",
    )
    embedding_model: str = Field("", description="model of the embedder, for fastembed also a folder; else its usual")
    embedding_url: str = Field(
        "", description="openai, cohere: another server that speaks the protocol, https://.../v1"
    )
    embedding_dimension: int = Field(
        0, ge=0, le=65536, description="length of the vectors of embedding_model, where relrag does not know it"
    )

    link_max_records: int = Field(
        MAX_RECORDS,
        ge=2,
        le=200,
        description="what more records than this share (a number, a file) relates none of them",
    )
    executor: Literal["processes", "ray"] = Field(
        "processes",
        description="who computes a large sync; processes: those of this machine; ray: tasks of Ray, with relrag[ray]: "
        "docs/deploy.md",
    )
    ray_address: str = Field(
        "",
        description="Ray cluster to join, host:port, which all syncs then use; empty: a sync starts one on this "
        "machine and ends it",
    )
    qdrant_url: str = Field(
        "",
        description="a Qdrant server that holds the vectors, such as http://127.0.0.1:6333; it is sent vectors, ids, "
        "times and numbers of people, and no text; else they are kept in `home`",
    )
    qdrant_quantization: Literal["none", "scalar", "binary"] = Field(
        "none",
        description="how the server keeps dense vectors in memory; scalar: a quarter of the memory, binary: a 32nd, "
        "for models of 1,024 dimensions and more; what is found is compared in full afterwards",
    )
    qdrant_shards: int = Field(
        1, ge=1, le=1_000, description="parts of a collection, which a Qdrant cluster spreads over its nodes"
    )
    qdrant_replicas: int = Field(
        1, ge=1, le=16, description="nodes of a Qdrant cluster that hold each part; a sync waits for all of them"
    )
    dagster_storage: Literal["sqlite", "postgres"] = Field(
        "sqlite", description="where Dagster keeps runs and events; postgres: the database of DAGSTER_POSTGRES_URL"
    )

    ui_public_url: str = Field(
        "",
        description="address under which a proxy serves the UI of `relrag ui`, such as https://relrag.example.org; it "
        "answers to this one and to those of this machine",
    )

    web_public_url: str = Field(
        "", description="address under which a proxy serves the pages of `relrag serve`, as ui_public_url"
    )

    login_days: int = Field(
        30,
        ge=1,
        le=365,
        description="days that a login to the pages of `relrag serve` and `relrag ui` lasts, whatever is restarted; "
        "`relrag serve --log-out` ends all",
    )
    web_identity_header: str = Field(
        "X-Forwarded-Email",
        description="header by which the proxy before `relrag serve --socket` names who asks; it is read there only",
    )
    web_users: dict[str, list[str]] = Field(
        default_factory=dict,
        description="who may ask through that proxy: by name as the header says it, `*` for the whole archive or the "
        "client_ids whose records that person sees",
        examples=[{"dana@example.org": ["*"], "ota@example.org": ["acme"]}],
    )
    web_writes_enabled: bool = Field(
        False,
        description="the owner's pages may add sources, sync, merge people and forget; programs with the token, and "
        "language models, may state relationships of people. Each change is in the journal. If unset, the pages ask",
    )
    browse_roots: list[str] = Field(["~"], description="folders below which the pages look for sources to add")
    backup_folder: Path = Field(
        Path("backups"),
        description="folder in which the pages make backups, beside relrag.toml unless absolute; a source around it "
        "leaves it out",
    )
    upload_max_bytes: int = Field(2 * 2**30, ge=1, description="a file that is uploaded may be this large, bytes")

    archive_max_ratio: int = Field(100, ge=2, description="a zip that expands to more than this many times is refused")
    archive_max_bytes: int = Field(20 * 2**30, ge=1, description="a zip that expands to more bytes is refused")
    unit_max_bytes: int = Field(2 * 2**30, ge=1, description="a document larger than this is refused, bytes")

    parser_max_seconds: int = Field(
        60, ge=1, description="processor time that a library may take to read one document, for each begun 16 MiB of it"
    )
    parser_max_bytes: int = Field(
        2**30, ge=64 * 2**20, description="memory that a library may take to read one document, bytes"
    )

    ocr: Literal["", "tesseract"] = Field(
        "",
        description="`tesseract`: pages of PDFs without text, pictures in mails, office documents and chats, and those "
        "that no camera took, are read by that program, which has to be installed (Debian: tesseract-ocr); empty: "
        "scans and pictures in mails and documents are listed as not read",
    )
    ocr_languages: list[str] = Field(
        default_factory=list,
        description="languages of scans as `tesseract --list-langs` names them; empty: all that are installed",
    )

    transcription_model: str = Field(
        "",
        description="folder of a faster-whisper model that makes transcripts of calls that have none; needs the extra",
    )
    transcription_max_seconds: int = Field(
        60, ge=1, description="processor time that the model may take for each second of a recording"
    )
    transcription_max_bytes: int = Field(
        8 * 2**30, ge=64 * 2**20, description="memory that the model may take to transcribe a recording, bytes"
    )

    keep_generations: int = Field(2, ge=1, description="published generations kept, if nothing was deleted")
    nightly: str = Field("03:30", description="when the schedule runs, HH:MM in `timezone`; off, or off 03:30: never")
    sensor_seconds: int = Field(60, ge=10, description="how often source folders are looked at, seconds")
    run_retention_days: int = Field(90, ge=0, description="days after which Dagster forgets superseded runs; 0: never")
    tick_retention_days: int = Field(7, ge=1, description="days after which Dagster forgets ticks of its sensors")
    alert_urls: list[str] = Field(
        default_factory=list,
        description="where to say that a run failed or the daemon stopped: addresses of Apprise (relrag[alerts]); "
        "better in the environment, as a JSON list, since they hold passwords. Counts and names of sources are sent",
        examples=[["ntfys://ntfy.example.org/relrag"]],
    )
    asset_owner: str = Field(
        "team:relrag",
        pattern=r"^(team:[A-Za-z0-9_-]+|[^@\s]+@[^@\s]+\.[^@\s]+)$",
        description="who answers for the assets in Dagster: an address of mail, or `team:` and a name",
    )
    backfill_months: int = Field(
        0, ge=0, description="months that a run of a backfill makes at most; 0: all in one, as `dg launch` needs it"
    )

    search_limit: int = Field(8, ge=1, le=100, description="results of a search")
    asset_neighborhood_expansion_enabled: bool = Field(
        False, description="follow threads and attachments where a question asks for them; `relrag init` writes true"
    )
    entity_expansion_enabled: bool = Field(
        True, description="where the best passages are facts under titles (kind jsonl), find what they name too"
    )
    intent_classifier: Literal["rules", "llm"] = Field(
        "rules",
        description="who reads what a question asks for; llm: the model that `answerer` names is sent the redacted "
        "question too, before it is searched for; where it fails the rules decide",
    )
    reranker: Literal["none", "cohere"] = Field(
        "none",
        description="who puts the passages found in order; cohere is sent the redacted question and the redacted "
        "passages; where it fails or takes too long the order stays",
    )
    rerank_model: str = Field("", description="model of the reranker; else the service's usual one")
    rerank_url: str = Field(
        "",
        description="another server that reranks, https://...; on this machine http:// will do, and without a key "
        "llama.cpp and text-embeddings-inference are understood too",
    )
    rerank_seconds: int = Field(5, ge=1, description="time that each of two tries of the reranker may take")
    answerer: Literal["extractive", "local", "openai", "cohere"] = Field(
        "extractive",
        description="who answers; extractive: excerpts of the archive; local: a model on this machine reads the first "
        "excerpts and writes, nothing leaves it; openai and cohere: that service does, it is sent the redacted "
        "excerpts and the redacted question. Only statements with a verbatim quote are shown",
    )
    answer_excluded_labels: list[str] = Field(
        ["spam", "trash", "promotions"],
        description="mail under these labels of Gmail answers no question; `relrag search` still finds it",
    )
    answer_model: str = Field(
        "", description="model that writes answers; else the service's usual one; local: by the name its server has"
    )
    answer_url: str = Field(
        "",
        description="another server that speaks the protocol, https://.../v1; local: the server on this machine "
        "(Ollama, llama.cpp, LM Studio, vLLM), such as http://127.0.0.1:11434/v1",
    )
    answer_temperature: float = Field(
        0.0,
        ge=-1,
        le=2,
        description="0 writes the likeliest words, so that the same question is answered alike; -1 leaves it to the "
        "service, as models that reason demand",
    )
    answer_max_tokens: int = Field(800, ge=50, description="longest written answer, in tokens")
    answer_context_tokens: int = Field(6000, ge=200, description="excerpts given to the model, in tokens, roughly")
    answer_seconds: int = Field(90, ge=1, description="time that a written answer may take")
    source_display_filter_enabled: bool = Field(True, description="show only the sources that matter")
    source_display_min_score: float = Field(0.5, ge=0, le=1, description="lowest display score that is shown")
    source_display_max_count: int = Field(8, ge=1, description="most sources shown")
    source_display_answer_filter: bool = Field(True, description="show only sources that the answer speaks of")

    golden_set: str = Field(
        "",
        description="file of questions whose answers are known, as `relrag eval` reads them; they are asked after "
        "each publish, and a check warns where significantly fewer are answered than before",
    )
    golden_significance: float = Field(
        0.05,
        gt=0,
        lt=1,
        description="a fall on `golden_set` is warned of where chance alone would make so many questions fare worse "
        "with a probability of at most this (0.05: five worse and none better)",
    )

    graphrag: GraphRAG = Field(
        default_factory=lambda: GraphRAG.model_validate({}),
        description="GraphRAG indexes; none unless it says how",
    )

    people: People = Field(
        default_factory=lambda: People.model_validate({}),
        description="how texts are read for facts about people and relationships; by patterns unless it says more",
    )

    folder: Path = Field(Path(), exclude=True, description="folder of relrag.toml (set when it is read)")

    @field_validator("archive")
    @classmethod
    def _file_name(cls, archive: str) -> str:
        if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,99}", archive):
            raise ValueError(f'is "{archive}"; use letters, digits, -, _ and ., beginning with a letter or digit')
        return archive

    @field_validator("home")
    @classmethod
    def _own_folder(cls, home: Path) -> Path:
        if not home.name:
            raise ValueError(f'is "{home}"; name a folder of its own, such as .relrag')
        return home

    @field_validator("home_lake")
    @classmethod
    def _bucket(cls, url: str) -> str:
        if url and not re.fullmatch(r"s3://[a-z0-9][a-z0-9.-]{1,61}[a-z0-9](/[A-Za-z0-9._=-]+)*/?", url):
            raise ValueError("is not a bucket; write it as s3://bucket/folder, without user, password or port")
        return url.rstrip("/")

    @field_validator("home_lake_private")
    @classmethod
    def _bucket_of_private(cls, private: bool, info: ValidationInfo) -> bool:
        if private and not info.data.get("home_lake"):
            raise ValueError("needs home_lake, the bucket that keeps the private files")
        return private

    @field_validator("timezone")
    @classmethod
    def _known_zone(cls, zone: str) -> str:
        return _zone(zone)

    @field_validator("pii_regions")
    @classmethod
    def _countries(cls, regions: list[str]) -> list[str]:
        return [_country(region) for region in dict.fromkeys(regions)]

    @field_validator("qdrant_url")
    @classmethod
    def _server(cls, url: str) -> str:
        return _plain_address(url, "QDRANT_API_KEY")

    @field_validator("ray_address")
    @classmethod
    def _host_and_port(cls, address: str) -> str:
        if address and not re.fullmatch(r"([A-Za-z0-9.-]+|\[[0-9a-fA-F:]+\]):[1-9]\d{0,4}", address):
            raise ValueError("is no address of a Ray cluster; write it as host:6379")
        return address

    @field_validator("ui_public_url", "web_public_url")
    @classmethod
    def _origin(cls, url: str) -> str:
        if url and not re.fullmatch(r"https?://([a-z0-9.-]+|\[[0-9a-f:]+\])(:[1-9]\d{0,4})?/?", url.lower()):
            raise ValueError("is not the address of a site; write it as https://relrag.example.org, without a path")
        return url.lower().rstrip("/")

    @field_validator("first_month")
    @classmethod
    def _month(cls, month: str) -> str:
        if not re.fullmatch(r"(19|20)\d\d-(0[1-9]|1[0-2])", month):
            raise ValueError(f'is "{month}"; write a month as YYYY-MM, from 1900-01 to 2099-12')
        return month

    @field_validator("sources", mode="before")
    @classmethod
    def _list_of_tables(cls, sources: Any) -> Any:
        if isinstance(sources, dict):
            raise ValueError("is one table; write [[sources]] with two brackets on either side")
        return sources

    @field_validator("nightly")
    @classmethod
    def _time_of_day(cls, time: str) -> str:
        if time != OFF and not re.fullmatch(rf"({OFF} )?([01]\d|2[0-3]):[0-5]\d", time):
            raise ValueError(f'is "{time}"; write a time as HH:MM, or {OFF}')
        return time

    @model_validator(mode="before")
    @classmethod
    def _without_former(cls, values: Any) -> Any:
        """Ignores settings of earlier versions, so that a configuration that sets one is still read."""
        return {name: value for name, value in values.items() if name not in _FORMER}

    @model_validator(mode="before")
    @classmethod
    def _with_preset(cls, values: Any) -> Any:
        preset, policies = PRESETS.get(values.get("pii_preset", "balanced"), POLICIES), values.get("pii_policies", {})
        return {**values, "pii_policies": {**preset, **policies}} if isinstance(policies, dict) else values

    @model_validator(mode="after")
    def _a_model_to_ask(self) -> Settings:
        if self.intent_classifier == "llm" and self.answerer == "extractive":
            raise ValueError('intent_classifier "llm" needs a model; set answerer to local, openai or cohere')
        return self

    @model_validator(mode="after")
    def _a_local_server(self) -> Settings:
        if self.answerer != "local":
            return self
        example = 'answer_url = "http://127.0.0.1:11434/v1"'
        if not self.answer_url or not self.answer_model:
            missing = "answer_model" if self.answer_url else "answer_url"
            raise ValueError(
                f'answerer "local" needs {missing}: the server on this machine and its model, such as {example}; '
                "`relrag doctor` names those that run"
            )
        if not is_loopback_url(self.answer_url):
            raise ValueError(
                'answerer "local" sends texts to this machine alone, and answer_url is no plain http address of it; '
                f'write {example}, or answerer = "openai" for a server elsewhere that speaks its protocol'
            )
        return self

    @model_validator(mode="after")
    def _distinct_names(self) -> Settings:
        names = [source.name for source in self.sources]
        if twice := sorted({name for name in names if names.count(name) > 1}):
            raise ValueError(f'two sources are named "{twice[0]}"; give each a name of its own')
        for source in self.sources:
            if source.channel and source.channel not in self.pii_policies:
                channels = ", ".join(sorted(self.pii_policies))
                raise ValueError(f'source "{source.name}" has channel "{source.channel}"; known channels: {channels}')
        for name, collection in self.graphrag.collections.items():
            if unknown := [source_name for source_name in collection.sources if source_name not in names]:
                problem = f'graphrag.collections.{name} names source "{unknown[0]}"'
                raise ValueError(f"{problem}; sources: {', '.join(names) or 'none'}")
        return self

    @model_validator(mode="after")
    def _own_folders_are_no_source(self) -> Settings:
        for source in self.sources:
            root = self.source_path(source)
            own = [folder.relative_to(root) for folder in self.own_folders if root in folder.parents]
            source.leave_out(map(Path.as_posix, own))
        return self

    def source(self, name: str) -> Source:
        """The source of that name; SettingsError names the known ones."""
        for source in self.sources:
            if source.name == name:
                return source
        names = ", ".join(source.name for source in self.sources) or "none"
        message = f'no source is named "{name}"; sources in {CONFIG_NAME}: {names}'
        raise SettingsError(message, code="source_absent", name=name)

    @property
    def home_path(self) -> Path:
        """`home`, absolute."""
        return (self.folder / self.home.expanduser()).resolve()

    @property
    def backup_path(self) -> Path:
        """Absolute path of the folder of the pages' backups."""
        return (self.folder / self.backup_folder.expanduser()).resolve()

    @property
    def own_folders(self) -> list[Path]:
        """What relrag itself writes and no source reads: the home, and the backups unless a source lies among them."""
        backups = self.backup_path
        holds_source = any(self.source_path(source).is_relative_to(backups) for source in self.sources)
        return [self.home_path] if holds_source else [self.home_path, backups]

    @property
    def is_scheduled(self) -> bool:
        """Whether the nightly schedule runs."""
        return not self.nightly.startswith(OFF)

    @property
    def nightly_time(self) -> str:
        """When the nightly schedule runs, or ran before it was switched off: HH:MM; empty if that is not known."""
        return self.nightly.removeprefix(OFF).strip()

    @property
    def keys_path(self) -> Path:
        """`keys_file`, absolute."""
        return (self.folder / Path(str(self.keys_file).replace("{archive}", self.archive)).expanduser()).resolve()

    @property
    def key_store(self) -> KeyStore:
        """Where the keys are, by `keys_store`."""
        if self.keys_store == "file":
            return KeyFile(self.keys_path)
        if self.keys_store == "environment":
            return KeyVariable()
        return Keyring(self.archive, self.keys_path.with_suffix(".lock"))

    @property
    def transcription_model_path(self) -> Path | None:
        """`transcription_model`, absolute."""
        return (
            (self.folder / Path(self.transcription_model).expanduser()).resolve() if self.transcription_model else None
        )

    @property
    def pii_recognizers_path(self) -> Path | None:
        """`pii_recognizers`, absolute."""
        return (self.folder / Path(self.pii_recognizers).expanduser()).resolve() if self.pii_recognizers else None

    @property
    def pii_language_model_path(self) -> Path | None:
        """`pii_language_model`, absolute."""
        return (self.folder / Path(self.pii_language_model).expanduser()).resolve() if self.pii_language_model else None

    @property
    def golden_set_path(self) -> Path | None:
        """`golden_set`, absolute."""
        return (self.folder / Path(self.golden_set).expanduser()).resolve() if self.golden_set else None

    def source_path(self, source: Source) -> Path:
        """`source.path`, absolute; of a source on a server where its mirror is."""
        if source.is_fetched:
            return items_folder(self.home_path, source.name)
        return (self.folder / source.path.expanduser()).resolve()


def days(text: str) -> tuple[date, date]:
    """The first day of `2024`, `2024-03` or `2024-03-15`, and the day after its last; ValueError for other texts."""
    try:
        if re.fullmatch(r"\d{4}", text):
            return date(int(text), 1, 1), date(int(text) + 1, 1, 1)
        if re.fullmatch(r"\d{4}-\d\d", text):
            first = date.fromisoformat(f"{text}-01")
            return first, (first + timedelta(days=31)).replace(day=1)
        day = date.fromisoformat(text)
    except (ValueError, OverflowError):
        raise ValueError(f'is "{text}"; write 2024, 2024-03 or 2024-03-15') from None
    return day, day + timedelta(days=1)


def _require_address(url: str, schemes: tuple[str, ...]) -> str:
    try:
        parts = urlsplit(url)
        usable = parts.scheme in schemes and parts.hostname and not (parts.query or parts.fragment)
        plain = usable and not parts.username and not parts.password and (parts.port is None or parts.port > 0)
    except ValueError:  # brackets without an address, or a port that is none
        plain = False
    if not plain:  # not repeated: it may hold a password
        written = " or ".join(f"{scheme}://host" for scheme in schemes)
        raise ValueError(f"is not a plain address; write it as {written}, without user and password")
    return url.rstrip("/")


def _plain_address(url: str, variable: str) -> str:
    try:
        parts = urlsplit(url)
        usable = parts.scheme in ("http", "https") and parts.hostname and not ("@" in parts.netloc or parts.query)
    except ValueError:  # brackets without an address
        usable = False
    if url and not usable:  # not repeated: it may hold a password
        raise ValueError(f"is not a plain address; write it as http://host:6333, and the key into {variable}")
    return url.rstrip("/")


def _country(region: str) -> str:
    # imported only where a setting names one: the numbering plans take a while to load
    from phonenumbers import SUPPORTED_REGIONS

    if region.upper() not in SUPPORTED_REGIONS:
        raise ValueError(f'names "{region}"; write countries by their two letters, such as ES for Spain')
    return region.upper()


def _zone(zone: str) -> str:
    try:
        ZoneInfo(zone)
    except (KeyError, ValueError, OSError):
        problem = f'is "{zone}", which is not a time zone; write one as Europe/Prague or Asia/Jerusalem'
        raise ValueError(problem) from None
    return zone
