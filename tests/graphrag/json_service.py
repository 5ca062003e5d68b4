"""A small server that answers in JSON by the chat protocols of OpenAI and Cohere, and fails as it is told to."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from relrag_pipelines.graphrag.llm.extraction import CONTINUE
from relrag_pipelines.graphrag.llm.model_writer import DESCRIBE, REPORT
from relrag_pipelines.people.passage_question import INSTRUCTIONS as PEOPLE
from tests import http_server

NOTHING: dict[str, Any] = {"entities": [], "relationships": []}
NO_STATEMENTS: dict[str, Any] = {"facts": [], "relationships": []}
TOKENS = 100
"""that the service counts for each answer"""


@dataclass
class Service:
    """A running server: what it says of a passage that holds a word, and what it was asked."""

    url: str = ""
    says: dict[str, dict[str, Any]] = field(default_factory=dict)
    again: dict[str, Any] = field(default_factory=lambda: NOTHING)
    raw: str = ""
    """is said instead"""
    status: dict[str, int] = field(default_factory=dict)
    """by a word of the passage"""
    finish: str = ""
    report: dict[str, Any] = field(default_factory=dict)
    """is said where a report is asked for"""
    description: str = ""
    """is said where descriptions are to become one"""
    asked: list[dict[str, Any]] = field(default_factory=list)


@contextmanager
def serve() -> Iterator[Service]:
    """A server on a port of this machine."""

    class Handler(http_server.Posted):
        def answer(self, body: dict[str, Any]) -> None:
            service.asked.append(body | {"path": self.path})
            messages = [one["content"] for one in body["messages"]]
            passage = messages[1]
            status = next((code for word, code in service.status.items() if word in passage), 200)
            nothing = NO_STATEMENTS if messages[0] == PEOPLE else NOTHING
            said = next((one for word, one in service.says.items() if word in passage), nothing)
            if messages[0] == REPORT:
                said = service.report
            elif messages[0] == DESCRIBE:
                said = {"description": service.description}
            text = service.raw or json.dumps(service.again if messages[-1] == CONTINUE else said)
            reply = {"message": "refused"} if status != 200 else self.reply(text)
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.end_headers()
            self.wfile.write(json.dumps(reply).encode())

        def reply(self, text: str) -> dict[str, Any]:
            if self.path.endswith("/chat/completions"):
                choice = {
                    "index": 0,
                    "message": {"role": "assistant", "content": text},
                    "finish_reason": service.finish or "stop",
                }
                usage = {"prompt_tokens": 60, "completion_tokens": 40, "total_tokens": TOKENS}
                return {"id": "1", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice]} | {
                    "usage": usage
                }
            return {
                "id": "1",
                "finish_reason": service.finish or "COMPLETE",
                "message": {"role": "assistant", "content": [{"type": "text", "text": text}]},
                "usage": {"tokens": {"input_tokens": 60, "output_tokens": 40}},
            }

    service = Service()
    with http_server.serve(Handler) as service.url:
        yield service
