"""Stop garbage collection until the fork server has imported its modules.

Modules stay in memory; searching them for garbage would take a fifth of the time.
"""

import gc

gc.disable()
