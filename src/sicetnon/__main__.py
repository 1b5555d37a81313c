"""`python -m sicetnon`."""

import sys

from sicetnon.cli import main

sys.exit(main())
