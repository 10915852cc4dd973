"""The vault as it is now, in memory: its files, what is shown of its notes, and what was found in them."""
