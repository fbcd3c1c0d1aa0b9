"""A table to play at in the browser: server, rooms, storage, and the page in ``table/page``."""
