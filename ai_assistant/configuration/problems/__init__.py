"""What is wrong with rows: said by forms, by the import of a file, and by the doctor."""
