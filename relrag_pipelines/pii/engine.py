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
"""language that Presidio is given for all patterns; they do not depend on it"""
_WORDS_IN_FRONT = 5
_TEXT = "text"

# Some recognisers look up the public suffix of a host name; by default tldextract downloads that list.
tldextract.tldextract.TLD_EXTRACTOR = tldextract.TLDExtract(suffix_list_urls=(), cache_dir=None)


def _strict(record: logging.LogRecord) -> bool:
    """Keeps texts out of the log; raises TimeoutError for a pattern's timeout, which Presidio only logs."""
    if record.exc_info:
        raise TimeoutError(record.name)
    return False


logging.getLogger("presidio-analyzer").addFilter(_strict)
logging.getLogger("presidio-anonymizer").addFilter(_strict)


class Recognizer(EntityRecognizer):
    """Wraps a function that finds one entity as a recogniser of Presidio."""

    def __init__(self, entity: str, find: Callable[[str], Iterable[Span]], language: str = LANGUAGE) -> None:
        self._find = find
        super().__init__([entity], name=f"relrag {entity}", supported_language=language)

    def load(self) -> None:
        """Nothing to load."""

    def analyze(
        self, text: str, entities: list[str], nlp_artifacts: NlpArtifacts | None = None
    ) -> list[RecognizerResult]:
        """The spans that the function finds, as Presidio's results."""
        entity, who = self.supported_entities[0], f"relrag {self.supported_entities[0]}"
        return [
            RecognizerResult(entity, *span, AnalysisExplanation(who, span[2], textual_explanation=f"found by {who}"))
            for span in self._find(text)
        ]


class _Text(NoOpNlpEngine):
    """An engine without a model; it keeps the text, from which `_WordsInFront` reads the words before a finding."""

    def process_text(self, text: str, language: str) -> NlpArtifacts:
        artifacts = super().process_text(text, language)
        setattr(artifacts, _TEXT, text)
        return artifacts


class _WordsInFront(ContextAwareEnhancer):
    """Raises the score of a finding after a context word of its recogniser.

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
        # artifacts of a language model contain the text in their tokens
        source_text = getattr(nlp_artifacts, _TEXT, None) or nlp_artifacts.tokens.text
        context_words = {
            recognizer.id: [word.lower() for word in recognizer.context]
            for recognizer in recognizers
            if recognizer.context
        }
        for result in raw_results:
            words = context_words.get(result.recognition_metadata[RecognizerResult.RECOGNIZER_IDENTIFIER_KEY])
            if words:
                self._raise_score(result, words, words_in_front(source_text, result.start, self.context_prefix_count))
        return raw_results

    def _raise_score(self, result: RecognizerResult, context_words: list[str], front_words: list[str]) -> None:
        word = next((word for word in context_words if word in front_words), None)
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
        adhoc_finders: Sequence[tuple[str, Callable[[str], Iterable[Span]]]] = (),
        explain: bool = False,
    ) -> list[RecognizerResult]:
        """Presidio's findings in the text; `further` are finders for this call only."""
        adhoc: list[EntityRecognizer] = [Recognizer(name, find, self.language) for name, find in adhoc_finders]
        return self.analyzer.analyze(
            text,
            self.language,
            entities=list(dict.fromkeys([*entities, *(name for name, _ in adhoc_finders)])),
            allow_list=list(allowed),
            ad_hoc_recognizers=adhoc,
            return_decision_process=explain,
        )

    def replace(self, values: Sequence[tuple[str, str]], configs: Mapping[str, OperatorConfig]) -> list[str]:
        """The replacement of each (entity, value) pair, in order."""
        operate = {name: operators.operation(config) for name, config in configs.items()}
        new = {(name, value): operate[name](value) for name, value in dict.fromkeys(values)}
        return [new[pair] for pair in values]

    @functools.cached_property
    def known_entities(self) -> frozenset[str]:
        """Names of all entities that the recognisers find."""
        return frozenset(self.analyzer.get_supported_entities(self.language))


def engine(entities: tuple[EntityType, ...], model: Path | None) -> Engine:
    """Presidio with these entities' recognisers, its own for all others, and the language model of a file."""
    return _engine(entities, model, model.read_bytes() if model and model.is_file() else b"")


@functools.cache
def _engine(entities: tuple[EntityType, ...], model: Path | None, content: bytes) -> Engine:
    """Cached by `content`, the bytes of the model's file, so that a long-running program notices a change."""
    names = ner_models.load(model) if model else LanguageModel(LANGUAGE)
    language = names.language
    ours = {entity.name for entity in entities}
    recognisers = [
        *(Recognizer(entity.name, entity.find, language) for entity in entities if entity.find),
        *(_pattern_recognizer(entry, language) for entity in entities for entry in entity.patterns),
        *(recognizer for recognizer in _presidio_recognizers() if not ours & set(recognizer.supported_entities)),
        *([names.recognizer] if names.recognizer else []),
    ]
    for recognizer in recognisers:
        recognizer.supported_language = language
    return Engine(_analyzer(recognisers, names.nlp, language), language)


def stock_recognizers(entities: Sequence[str]) -> AnalyzerEngine:
    """Presidio with only its own recognisers of these entities, for comparison with ours."""
    return _analyzer(
        [recognizer for recognizer in _presidio_recognizers() if set(entities) & set(recognizer.supported_entities)],
        None,
        LANGUAGE,
    )


def _pattern_recognizer(entry: PatternEntry, language: str) -> PatternRecognizer:
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
        # Presidio warns that an enhancer has no words without a model; ours reads them from the text
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
