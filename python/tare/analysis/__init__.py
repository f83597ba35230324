"""Tables in, tables out: sums over what the native reader gives."""
