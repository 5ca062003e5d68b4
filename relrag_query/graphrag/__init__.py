"""GraphRAG indexes read: the tables of Microsoft's tool, the citations of its answers, and the pages behind them."""
