"""What `strongroom doctor` looks at: one function a check, each of which says what it found, what it means, what to do."""
