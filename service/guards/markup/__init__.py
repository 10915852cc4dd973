"""What HTML shows of its text and what it hides: HTML5's tokens, styles, and the elements that nobody sees."""
