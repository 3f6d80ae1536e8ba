"""`python -m faultwise.server.cli`."""

from . import main

raise SystemExit(main())
