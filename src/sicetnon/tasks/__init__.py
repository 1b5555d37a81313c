"""The Touché tasks, one file per task: each reads like the method section of a paper."""
