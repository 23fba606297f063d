"""The process of a scoring server of MLflow: ``scoring_process.py FOLDER DESCRIPTOR``.

The interpreter of another environment runs this file, which imports nothing from this project. The
process writes its port, or the reason for having none, as JSON to the descriptor. It ends when the
other end of its standard input is closed, for any reason.
"""

import json
import os
import socket
import sys
import threading

STDIN = 0
LONGEST_PROBLEM = 2000


def end_with_parent() -> None:
    """End this process once the other end of its standard input is closed."""
    while os.read(STDIN, 4096):
        pass
    os._exit(0)


def main(folder: str, descriptor: int) -> int:
    """Load the model, report the port, and answer requests; return an exit code on failure."""
    threading.Thread(target=end_with_parent, daemon=True).start()
    with os.fdopen(descriptor, "w") as telling:
        try:
            import uvicorn
            from mlflow.pyfunc import load_model
            from mlflow.pyfunc.scoring_server import init

            app = init(load_model(folder))
            listening = socket.create_server(("127.0.0.1", 0))
        except BaseException as error:  # noqa: BLE001 - reported to the parent process
            problem = f"{type(error).__name__}: {error}"[:LONGEST_PROBLEM]
            json.dump({"problem": problem}, telling)
            return 1
        json.dump({"port": listening.getsockname()[1]}, telling)
    uvicorn.Server(uvicorn.Config(app, log_level="warning")).run([listening])
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], int(sys.argv[2])))
