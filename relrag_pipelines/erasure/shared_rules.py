"""The erasure rules of a lake that several machines share: files of the lake, encrypted with the archive's keys.

A machine that forgets writes its rules into lake/forgetting/, and they go into the bucket with the lake. Another one
takes them over when it fetches the lake. Otherwise it would make the forgotten records again from its own private ones.
"""

from __future__ import annotations

import json
from dataclasses import asdict, replace
from pathlib import Path

from relrag_pipelines.erasure import rule_file
from relrag_pipelines.erasure.rule_file import ErasureRule, ErasureRules
from relrag_pipelines.files.atomic import replace_file
from relrag_pipelines.privacy.keys import Keys
from relrag_pipelines.stores import question_files
from relrag_pipelines.stores.bucket_commit import RULE_SUFFIX, RULES
from relrag_pipelines.stores.lake import LakeError

_KIND = "erasure rule"
"""what the cipher authenticates besides the rule"""


def share(home: Path, keys: Keys) -> None:
    """Writes the rules of the home into its lake. Raises LakeError if it holds a rule that was not taken over."""
    rules = rule_file.load(home, keys)
    if _unknown(home, rules, keys):
        raise LakeError("records were forgotten on another machine; `relrag sync` forgets them here too")
    for rule in rules.rules:
        path, sealed = _path(home, rule, keys), keys.seal_bytes(_body(rule), _KIND)
        if not path.exists() or path.read_bytes() != sealed:
            with replace_file(path) as temporary:
                temporary.write_bytes(sealed)


def take_over(home: Path, keys: Keys) -> int:
    """Adds the rules in the lake that the home lacks, and returns their number; `purge.resume` then applies them.

    Raises LakeError if other keys have sealed one.
    """
    rules = rule_file.load(home, keys)
    unknown = _unknown(home, rules, keys)
    for path in unknown:
        rules = rule_file.add_rule(rules, _read(path, keys))
    if unknown:
        rule_file.save(home, rules, keys)
        question_files.drop(home)
    return len(unknown)


def withdraw(home: Path, rule: ErasureRule, keys: Keys) -> None:
    """Removes a rule from the lake, if it is there; the next commit then removes it from the bucket."""
    _path(home, rule, keys).unlink(missing_ok=True)


def _unknown(home: Path, rules: ErasureRules, keys: Keys) -> list[Path]:
    """The files of rules that the home lacks."""
    own_files = {_path(home, rule, keys) for rule in rules.rules}
    return sorted(path for path in (home / RULES).glob(f"*{RULE_SUFFIX}") if path not in own_files)


def _path(home: Path, rule: ErasureRule, keys: Keys) -> Path:
    """Where the lake holds a rule: under the keyed hash of all that it says, so equal on every machine."""
    return home / RULES / f"{keys.content_hash(_body(rule))}{RULE_SUFFIX}"


def _body(rule: ErasureRule) -> bytes:
    # each machine counts its rules by itself
    return json.dumps(asdict(replace(rule, number=0)), sort_keys=True).encode()


def _read(path: Path, keys: Keys) -> ErasureRule:
    body = keys.unseal_bytes(path.read_bytes(), _KIND)
    if body is None:
        raise LakeError(
            "records were forgotten on another machine, whose keys are not those of keys_file; copy its keys to here"
        )
    try:
        return ErasureRule(**json.loads(body))
    except TypeError:
        raise LakeError("a newer relrag forgot records on another machine; install that version") from None
