"""Tables of every library, read in Polars by column, and the roles of their columns."""
