"""Phone numbers: found by form and context, declared by a record, and normalised.

`chains` finds them with `national` (forms of one country) and `library` (phonenumbers); `record_phones` collects those
that a record declares, and `value_search` finds these in any format.
"""

from relrag_pipelines.pii.phones.chains import (
    MAX_CHAIN_CHARS,
    clear_cache,
    drop_non_phones,
    every_form,
    find,
    normalise,
)

__all__ = ["MAX_CHAIN_CHARS", "clear_cache", "drop_non_phones", "every_form", "find", "normalise"]
