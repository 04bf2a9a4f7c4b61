"""What agents may ask of onlooker about themselves: an MCP server that answers ids and counts."""
