"""`python -m paramedic.api.command_line`: how a run starts its services with its own interpreter."""

import sys

from paramedic.api.command_line.main import main

sys.exit(main())
