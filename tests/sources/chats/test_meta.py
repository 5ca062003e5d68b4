"""Links that tell where somebody is do not become text."""

import pytest

from relrag_pipelines.sources.chats import meta


@pytest.mark.parametrize(
    ("link", "is_position"),
    [
        ("https://www.google.com/maps?q=50.0759,14.4378", True),
        ("https://www.google.com/maps/place/50.0759,14.4378", True),
        ("https://www.bing.com/maps/default.aspx?v=2&where1=50.0759%2C+14.4378", True),
        ("https://osm.example/#map=18/50.07590/14.43780", True),
        ("https://shop.example/boiler?price=12.50,13.50", False),
        ("https://example.org/cabin", False),
    ],
)
def test_a_link_with_a_position(link: str, is_position: bool) -> None:
    assert meta._names_a_position(link) is is_position
