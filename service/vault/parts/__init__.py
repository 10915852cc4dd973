"""What a note's text is made of: pure functions from the text to its tasks, tags, headings and links. No vault, no disk."""
