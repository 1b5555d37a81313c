"""Speed: builds, queries and commands, beside peers where there are any."""
