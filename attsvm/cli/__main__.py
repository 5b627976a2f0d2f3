"""`python -m attsvm.cli` is `attsvm`."""

import sys

from attsvm.cli import main

sys.exit(main())
