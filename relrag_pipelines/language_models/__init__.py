"""Language models that read texts of the archive: how they are asked, what they cost, what is kept of their answers."""
