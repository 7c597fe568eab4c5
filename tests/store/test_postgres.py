"""What the PostgreSQL adapter owes beyond the contract."""

from contract import StoreContract
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st


class TestPostgresStore(StoreContract):
    kind = "postgres"

    @settings(max_examples=8, deadline=None, suppress_health_check=list(HealthCheck))
    @given(data=st.data())
    def test_another_namespace_never_appears(self, database, data):
        """The same as elsewhere, with fewer examples: each asks a server a hundred times."""
        self.look_for_others(database, data)
