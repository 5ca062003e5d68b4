"""Presidio's engine, without a model and without a network.

Our own entities are registered in it as recognisers, with the same findings as without it. Every other kind that
Presidio finds by patterns (IP_ADDRESS, US_SSN, ...) can be named in a policy too, and is found by its engine.
Importing this module takes seconds.
"""

from __future__ import annotations

import functools
import logging
from collections.abc import Sequence

import tldextract
import tldextract.tldextract
from presidio_analyzer import AnalyzerEngine, EntityRecognizer, RecognizerRegistry, RecognizerResult
from presidio_analyzer.nlp_engine import NlpArtifacts, NoOpNlpEngine

from relrag_pipelines.pii.entities import ENTITIES, FURTHER, EntityType
from relrag_pipelines.pii.spans import Span, resolve_overlaps

LANGUAGE = "en"
"""what Presidio calls the language of every pattern here; none of ours depends on one"""

# Some recognisers ask for the public suffix of a name; by default that list is fetched from the network.
tldextract.tldextract.TLD_EXTRACTOR = tldextract.TLDExtract(suffix_list_urls=(), cache_dir=None)


def _strict(record: logging.LogRecord) -> bool:
    """Keeps texts out of the log; a pattern that ran out of time, which Presidio only logs, is an error."""
    if record.exc_info:
        raise TimeoutError(record.name)
    return False


logging.getLogger("presidio-analyzer").addFilter(_strict)


class Recognizer(EntityRecognizer):
    """One of our entities as Presidio sees it."""

    def __init__(self, entity: EntityType) -> None:
        self._find = entity.find
        super().__init__([entity.name], name=f"relrag {entity.name}", supported_language=LANGUAGE)

    def load(self) -> None:
        """Nothing to load."""

    def analyze(
        self, text: str, entities: list[str], nlp_artifacts: NlpArtifacts | None = None
    ) -> list[RecognizerResult]:
        """What the entity's function finds."""
        return [RecognizerResult(self.supported_entities[0], *span) for span in self._find(text)]


@functools.cache
def engine() -> AnalyzerEngine:
    """The engine with our recognisers, and with Presidio's for what we have none for."""
    ours = ENTITIES | FURTHER
    presidios = [one for one in _predefined() if not ours.keys() & set(one.supported_entities)]
    return _engine([*map(Recognizer, ours.values()), *presidios])


def stock_recognizers(entities: Sequence[str]) -> AnalyzerEngine:
    """Presidio as it comes, with its own recognisers of these entities: what ours are held against."""
    return _engine([one for one in _predefined() if set(entities) & set(one.supported_entities)])


@functools.cache
def known_entities() -> frozenset[str]:
    """Names of all entities that the engine finds."""
    return frozenset(engine().get_supported_entities(LANGUAGE))


@functools.cache
def entity(name: str) -> EntityType:
    """An entity of Presidio's own; its values are equal when they are but for case and white space."""
    return EntityType(name, functools.partial(_find, name), lambda value: "".join(value.split()).casefold(), name, "")


def _predefined() -> list[EntityRecognizer]:
    registry = RecognizerRegistry(supported_languages=[LANGUAGE])
    registry.load_predefined_recognizers(languages=[LANGUAGE], nlp_engine=_language())
    return list(registry.recognizers)


def _engine(recognisers: list[EntityRecognizer]) -> AnalyzerEngine:
    registry = RecognizerRegistry(recognizers=recognisers, supported_languages=[LANGUAGE])
    return AnalyzerEngine(registry=registry, nlp_engine=_language(), supported_languages=[LANGUAGE])


@functools.cache
def _language() -> NoOpNlpEngine:
    language = NoOpNlpEngine([{"lang_code": LANGUAGE, "model_name": ""}])
    language.load()
    return language


def _find(name: str, text: str) -> list[Span]:
    results = engine().analyze(text, LANGUAGE, entities=[name])
    return resolve_overlaps((Span(result.start, result.end, result.score) for result in results), text)
