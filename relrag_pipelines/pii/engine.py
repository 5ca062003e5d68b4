"""Presidio: its AnalyzerEngine decides what is personal data, its operators replace it.

Recognisers are ours, those of the YAML files, and Presidio's own for what neither has. They run without a model and
without a network, unless a setting names a language model that is on this machine. Importing this module takes a
second, so a text comes here only where a recogniser could find something in it; redactor.py sees to that.
"""

from __future__ import annotations

import functools
import logging
import warnings
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import tldextract
import tldextract.tldextract
from presidio_analyzer import (
    AnalysisExplanation,
    AnalyzerEngine,
    EntityRecognizer,
    PatternRecognizer,
    RecognizerRegistry,
    RecognizerResult,
)
from presidio_analyzer.context_aware_enhancers import ContextAwareEnhancer
from presidio_analyzer.nlp_engine import NlpArtifacts, NlpEngine, NoOpNlpEngine
from presidio_anonymizer.entities import OperatorConfig

from relrag_pipelines.pii import ner_models, operators
from relrag_pipelines.pii.context_words import words_in_front
from relrag_pipelines.pii.entities import EntityType
from relrag_pipelines.pii.ner_models import LanguageModel
from relrag_pipelines.pii.patterns import BOOST, BOOSTED, PatternEntry
from relrag_pipelines.pii.spans import Span

LANGUAGE = "en"
"""what Presidio calls the language of every pattern here; none depends on one"""
_WORDS_IN_FRONT = 5
_TEXT = "text"

# Some recognisers ask for the public suffix of a name; by default that list is fetched from the network.
tldextract.tldextract.TLD_EXTRACTOR = tldextract.TLDExtract(suffix_list_urls=(), cache_dir=None)


def _strict(record: logging.LogRecord) -> bool:
    """Keeps texts out of the log; a pattern that ran out of time, which Presidio only logs, is an error."""
    if record.exc_info:
        raise TimeoutError(record.name)
    return False


logging.getLogger("presidio-analyzer").addFilter(_strict)
logging.getLogger("presidio-anonymizer").addFilter(_strict)


class Recognizer(EntityRecognizer):
    """A function that finds one entity, as Presidio sees it."""

    def __init__(self, entity: str, find: Callable[[str], Iterable[Span]], language: str = LANGUAGE) -> None:
        self._find = find
        super().__init__([entity], name=f"relrag {entity}", supported_language=language)

    def load(self) -> None:
        """Nothing to load."""

    def analyze(
        self, text: str, entities: list[str], nlp_artifacts: NlpArtifacts | None = None
    ) -> list[RecognizerResult]:
        """What the function finds."""
        entity, who = self.supported_entities[0], f"relrag {self.supported_entities[0]}"
        return [
            RecognizerResult(entity, *span, AnalysisExplanation(who, span[2], textual_explanation=f"found by {who}"))
            for span in self._find(text)
        ]


class _Text(NoOpNlpEngine):
    """No model: the text itself is kept, for the words in front of a finding."""

    def process_text(self, text: str, language: str) -> NlpArtifacts:
        artifacts = super().process_text(text, language)
        setattr(artifacts, _TEXT, text)
        return artifacts


class _WordsInFront(ContextAwareEnhancer):
    """Raises the score of a finding that has a context word of its recogniser in front of it.

    Presidio's own enhancer copies every finding deeply and asks a model for the words.
    """

    def enhance_using_context(
        self,
        text: str,
        raw_results: list[RecognizerResult],
        nlp_artifacts: NlpArtifacts,
        recognizers: list[EntityRecognizer],
        context: list[str] | None = None,
    ) -> list[RecognizerResult]:
        """The findings, with their scores raised."""
        # a model's tokens know their text
        seen = getattr(nlp_artifacts, _TEXT, None) or nlp_artifacts.tokens.text
        context_words = {one.id: [word.lower() for word in one.context] for one in recognizers if one.context}
        for result in raw_results:
            words = context_words.get(result.recognition_metadata[RecognizerResult.RECOGNIZER_IDENTIFIER_KEY])
            if words:
                self._raise_score(result, words, words_in_front(seen, result.start, self.context_prefix_count))
        return raw_results

    def _raise_score(self, result: RecognizerResult, context_words: list[str], in_front: list[str]) -> None:
        word = next((word for word in context_words if word in in_front), None)
        if word is None:
            return
        raised = max(result.score + self.context_similarity_factor, self.min_score_with_context_similarity)
        result.score = min(raised, self.MAX_SCORE)
        result.analysis_explanation.set_supportive_context_word(word)
        result.analysis_explanation.set_improved_score(result.score)


@dataclass(frozen=True)
class Engine:
    """Presidio with the recognisers of one archive."""

    analyzer: AnalyzerEngine
    language: str

    def analyze(
        self,
        text: str,
        entities: Sequence[str],
        allowed: Sequence[str] = (),
        further: Sequence[tuple[str, Callable[[str], Iterable[Span]]]] = (),
        explain: bool = False,
    ) -> list[RecognizerResult]:
        """What stands in the text, as Presidio decides; `further` are functions for this text alone."""
        adhoc: list[EntityRecognizer] = [Recognizer(name, find, self.language) for name, find in further]
        return self.analyzer.analyze(
            text,
            self.language,
            entities=list(dict.fromkeys([*entities, *(name for name, _ in further)])),
            allow_list=list(allowed),
            ad_hoc_recognizers=adhoc,
            return_decision_process=explain,
        )

    def replace(self, values: Sequence[tuple[str, str]], configs: Mapping[str, OperatorConfig]) -> list[str]:
        """What stands for each value, given with the name of its entity."""
        operate = {name: operators.operation(config) for name, config in configs.items()}
        new = {(name, value): operate[name](value) for name, value in dict.fromkeys(values)}
        return [new[one] for one in values]

    @functools.cached_property
    def known_entities(self) -> frozenset[str]:
        """Names of all entities that are found."""
        return frozenset(self.analyzer.get_supported_entities(self.language))


def engine(entities: tuple[EntityType, ...], model: Path | None) -> Engine:
    """Presidio with these entities' recognisers, with its own for all others, and with the language model of a file."""
    return _engine(entities, model, model.read_bytes() if model and model.is_file() else b"")


@functools.cache
def _engine(entities: tuple[EntityType, ...], model: Path | None, described: bytes) -> Engine:
    """Made once for what the file of a model says: a program that runs for long sees it change."""
    names = ner_models.load(model) if model else LanguageModel(LANGUAGE)
    language = names.language
    ours = {entity.name for entity in entities}
    recognisers = [
        *(Recognizer(entity.name, entity.find, language) for entity in entities if entity.find),
        *(_of_entry(entry, language) for entity in entities for entry in entity.patterns),
        *(one for one in _presidio_recognizers() if not ours & set(one.supported_entities)),
        *([names.recognizer] if names.recognizer else []),
    ]
    for one in recognisers:
        one.supported_language = language
    return Engine(_analyzer(recognisers, names.nlp, language), language)


def stock_recognizers(entities: Sequence[str]) -> AnalyzerEngine:
    """Presidio as it comes, with its own recognisers of these entities: what ours are held against."""
    return _analyzer(
        [one for one in _presidio_recognizers() if set(entities) & set(one.supported_entities)], None, LANGUAGE
    )


def _of_entry(entry: PatternEntry, language: str) -> PatternRecognizer:
    config: dict[str, Any] = {**entry.config, "supported_language": language}
    thresholds = config.pop("score_thresholds")
    recogniser = PatternRecognizer.from_dict(config)
    recogniser.score_thresholds = thresholds
    return recogniser


def _presidio_recognizers() -> list[EntityRecognizer]:
    registry = RecognizerRegistry(supported_languages=[LANGUAGE])
    registry.load_predefined_recognizers(languages=[LANGUAGE], nlp_engine=_no_model(LANGUAGE))
    return list(registry.recognizers)


def _analyzer(recognisers: Collection[EntityRecognizer], nlp: NlpEngine | None, language: str) -> AnalyzerEngine:
    registry = RecognizerRegistry(recognizers=list(recognisers), supported_languages=[language])
    if nlp:
        registry.add_nlp_recognizer(nlp)
    with warnings.catch_warnings():
        # it warns that without a model an enhancer has no words to look at; this one has
        warnings.simplefilter("ignore", UserWarning)
        return AnalyzerEngine(
            registry=registry,
            nlp_engine=nlp or _no_model(language),
            supported_languages=[language],
            context_aware_enhancer=_WordsInFront(BOOST, BOOSTED, _WORDS_IN_FRONT, 0),
        )


def _no_model(language: str) -> NoOpNlpEngine:
    nlp = _Text([{"lang_code": language, "model_name": ""}])
    nlp.load()
    return nlp
