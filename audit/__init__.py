"""What is written, and where: records, the log, checkpoints, sinks."""
