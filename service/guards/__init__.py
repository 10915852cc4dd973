"""What may come in, what may go out, where one may go. Pure functions: no disk, no network."""
