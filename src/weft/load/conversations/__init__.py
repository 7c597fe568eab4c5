"""Conversations as documents: exports of assistants, session logs of agents, chats, mail and transcripts."""
