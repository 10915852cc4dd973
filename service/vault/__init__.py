"""The vault in its own words: notes, sections, days, folders. Knows no wire and no git."""
