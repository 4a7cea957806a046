"""The cluster, as the worker sees it: frames on one inherited socket."""
