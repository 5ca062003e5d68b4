"""A GraphRAG index of an archive's chunks, in the tables of Microsoft GraphRAG 3.x: pure functions over data frames."""
