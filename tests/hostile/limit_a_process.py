# Tries to set a limit that kills another process.
import resource
resource.prlimit(VICTIM, resource.RLIMIT_CPU, (1, 1))
"reached"
