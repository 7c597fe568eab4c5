"""Resident process that answers hooks of agent hosts: `address`, `client`, `hooks`, `server`."""
