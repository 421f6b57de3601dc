"""`python -m paramedic.api.command_line`: how a run starts its services, with its own Python."""

import sys

from paramedic.api.command_line.main import main

sys.exit(main())
