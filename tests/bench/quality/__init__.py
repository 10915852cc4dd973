"""How good the order of ranked search is: labelled queries over three vaults, and the peers' answers to the same ones."""
