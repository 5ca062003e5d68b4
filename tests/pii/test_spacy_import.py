"""spaCy is imported without what its command line needs."""

import subprocess
import sys

SCRIPT = """
import sys
import relrag_pipelines.pii.engine
print(sorted({"spacy", "weasel", "typer", "spacy.cli"} & set(sys.modules)))
import spacy.cli
print(spacy.cli.download.__module__, spacy.blank("en")("Two words")[1])
"""


def test_presidio_brings_no_command_line_and_it_can_still_be_imported() -> None:
    done = subprocess.run([sys.executable, "-c", SCRIPT], capture_output=True, text=True, check=True)
    assert done.stdout == "['spacy']\nspacy.cli.download words\n"
