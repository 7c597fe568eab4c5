"""Runs a real language model behind HTTP on this machine, in a process of its own: `python llm_server.py FILE.gguf`."""

import sys

import xllamacpp

params = xllamacpp.CommonParams()
params.model.path = sys.argv[1]
params.n_ctx = 4096
params.n_parallel = 1
params.hostnames = ["127.0.0.1"]
params.port = 0
server = xllamacpp.Server(params)
sys.stdout.write(f"{server.listening_address}\n")
sys.stdout.flush()
sys.stdin.read()  # until the parent process has ended
