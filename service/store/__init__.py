"""The only hands on the disk: the vault's files, the locks, and the state database."""
