"""The application that commands, pages and Python share: index, answers, briefs, replies."""
