"""What a policy loses for want of knowledge, and what it loses by itself."""
