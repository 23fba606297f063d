"""Steps of the flows, the Dask cluster and what its workers run.

Prefect reads its settings from the environment when it is first imported, so this module sets the
project's defaults there, without changing the user's settings. Prefect then sends no usage data and
stays out of the home folder. This process and its children reach the servers of this machine
without the proxies of the environment.
"""

import os
from pathlib import Path

from decaf.foundation.pipeline_packages import check_packages
from decaf.foundation.proxies import bypass_proxies

check_packages("warehouse")

PREFECT_DEFAULTS = {
    "PREFECT_HOME": str(Path("runs/.prefect").absolute()),
    "PREFECT_SERVER_ANALYTICS_ENABLED": "false",
    "DO_NOT_TRACK": "1",
    "PREFECT_LOGGING_TO_API_ENABLED": "false",
    # The command line reports a failed task once, as a readable message.
    "PREFECT_LOGGING_LEVEL": "CRITICAL",
}

for _name, _value in PREFECT_DEFAULTS.items():
    os.environ.setdefault(_name, _value)

bypass_proxies()
