"""Links that tell where somebody is do not become text."""

import pytest

from relrag_pipelines.sources.chats import meta
from tests.cases import cases


@pytest.mark.parametrize(*cases(__file__, "a_link_with_a_position"))
def test_a_link_with_a_position(link: str, is_position: bool) -> None:
    assert meta._names_a_position(link) is is_position
