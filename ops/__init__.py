"""The words a person types: one console script, one file per command. May import `service`; nobody imports `ops`."""
