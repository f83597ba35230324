"""What the browser gets: `tare report` and `tare view`.

content (overview, call_sites, ranks, messages, source_text) -> document (assets/, vendor/) -> a file, or
served
"""
