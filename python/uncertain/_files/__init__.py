"""Files of tables: paths, formats and their readers, which name what is damaged."""
