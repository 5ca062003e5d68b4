"""pandas is imported with the first data frame, not with the first array."""

import subprocess
import sys

import pytest

LATER = {
    "from a frame": "import pandas as pd; print(pa.Table.from_pandas(pd.DataFrame({'a': ['x', None]})).to_pydict())",
    "to a frame": "print(pa.table({'a': ['x', None]}).to_pandas()['a'].tolist())",
    "from a column": "import pandas as pd; print(pa.array(pd.Series([1, 2])).to_pylist())",
}
PRINTED = {"from a frame": "{'a': ['x', None]}", "to a frame": "['x', nan]", "from a column": "[1, 2]"}


@pytest.mark.parametrize("later", LATER)
def test_arrays_need_no_pandas_and_frames_work(later: str) -> None:
    script = (
        "import sys, relrag_pipelines.stores.table_schema, pyarrow as pa\n"
        "pa.array(['x']); pa.table({'a': [1]}).to_pylist()\n"
        f"print('pandas' in sys.modules)\n{LATER[later]}"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == ["False", PRINTED[later]]
