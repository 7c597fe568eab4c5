"""Agent hosts: their settings files (`catalog`), edits of these files (`json_edit`), install and undo (`install`)."""
