"""Every state the vault was in. The only importer of dulwich; the object API, never its porcelain."""
