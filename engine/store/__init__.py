"""Where state is kept beyond one process. The only part of the engine that does I/O."""
