"""How a step runs on this machine: pools of processes and threads, buffers, memory."""
