"""What an instance is: its data, its file, and how instances are made."""
