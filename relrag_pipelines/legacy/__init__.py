"""What relrag writes into the collections that older systems left in Qdrant."""
