"""The HTTP face: routes, health, the outer guards."""
