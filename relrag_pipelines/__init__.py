"""Turns exports into the lake and a published index. See ARCHITECTURE.md."""

import os

# Whatever sends reports of its use is told not to before it can be imported: only modules of this package import it
# (docs/privacy.md). Set whatever the variables say, so that no 0 among them turns it on.
os.environ.update(
    ORT_DISABLE_TELEMETRY="1",  # ONNX Runtime looks at it as it is loaded, and its own function comes too late
    HF_HUB_DISABLE_TELEMETRY="1",
    RAY_USAGE_STATS_ENABLED="0",  # processes that Ray starts inherit it
)
