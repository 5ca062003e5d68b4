"""Phone numbers: what is one by its form or by the words around it, what a record itself declares, and one way to
write each.

`chains` finds them and asks `national` (forms of one country) and `library` (phonenumbers) on the way; `declared` are
those that a record names as phones, and `known` finds such a number wherever it stands.
"""

from relrag_pipelines.pii.phones.chains import LONGEST, clear_cache, drop_non_phones, every_form, find, normalise

__all__ = ["LONGEST", "clear_cache", "drop_non_phones", "every_form", "find", "normalise"]
