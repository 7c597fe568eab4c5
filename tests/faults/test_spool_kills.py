"""Random kills of processes that capture and index turns of two hosts: nothing is lost, and nothing is there twice."""

from fault_settings import chance, count
from spool_killing import kill_captures

KILLS = 200


def test_killed_captures_lose_nothing(fork_server, tmp_path):
    """After every twentieth kill, all acknowledged turns are in the store, each once."""
    acknowledged = kill_captures(fork_server, tmp_path, kills=count(KILLS), random=chance("spool"))
    print(f"\n{count(KILLS)} kills, {acknowledged} turns acknowledged")
