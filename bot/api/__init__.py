"""The HTTP door: agents in any language hand over tool calls and get back what people decided."""
