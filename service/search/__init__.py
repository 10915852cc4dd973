"""Questions over the whole vault."""
