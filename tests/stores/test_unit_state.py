"""What is stored of units."""

from pathlib import Path

from relrag_pipelines.privacy.keys import Keys
from relrag_pipelines.records import UnitState
from relrag_pipelines.stores import unit_state


def test_what_is_stored_is_for_the_owner_only(tmp_path: Path) -> None:
    unit_state.save(tmp_path / "home", "papers", {})
    for folder in ("home", "home/private", "home/private/units"):
        assert (tmp_path / folder).stat().st_mode & 0o777 == 0o700


def test_a_forgotten_unit_is_not_stored_where_its_name_would_stand(tmp_path: Path) -> None:
    keyed = Keys(b"i" * 32, b"p" * 32, "k1").id_hash
    states = {path: UnitState(path, 1, 1, "hash", "reader", []) for path in ("a.md", "b.md")}
    unit_state.save(tmp_path, "papers", states | {"a.md": unit_state.hide_unit(states["a.md"], keyed)})
    assert list(unit_state.load(tmp_path, "papers")) == ["b.md", unit_state.hashed_path("a.md", keyed)]
