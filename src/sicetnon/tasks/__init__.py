"""The Touché tasks: one file a task, which reads like the method section of a paper."""
