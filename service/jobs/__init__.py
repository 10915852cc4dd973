"""What happens by itself. The only importer of apscheduler."""
