"""Generated workloads: the same seed gives the same one."""
