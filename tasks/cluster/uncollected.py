"""Stop collecting garbage until the imports of the fork server are done.

Modules stay, and looking through them for garbage takes a fifth of the time.
"""

import gc

gc.disable()
