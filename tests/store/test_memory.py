from contract import StoreContract


class TestMemoryStore(StoreContract):
    kind = "memory"
