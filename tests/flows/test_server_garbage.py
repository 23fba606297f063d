"""The garbage of the Prefect server under ``decaf serve``."""

from ended_commands import run_code, succeeded


def test_one_thread_alone_frees_what_is_garbage_young_or_old():
    code = """
import gc, threading, weakref
from flows.scheduling import server

class Node:
    def __init__(self):
        self.itself = self
        self.freed = threading.Event()
        weakref.finalize(self, tell, self.freed)

def tell(freed):
    print(threading.current_thread().name)
    freed.set()

server.COLLECT_SECONDS, server.FULL_COLLECTION_EVERY = 0.01, 3
old = Node()
gc.collect()
server.collect_apart()
assert not gc.isenabled()
young = Node()
awaited = [old.freed, young.freed]
del old, young
assert all(freed.wait(60) for freed in awaited)
"""
    assert succeeded(run_code(code)) == "collect garbage\n" * 2
