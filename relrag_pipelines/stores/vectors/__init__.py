"""The engines behind `vector_store`: Qdrant's in this process, and a Qdrant server. `protocol.py` is what both do."""
