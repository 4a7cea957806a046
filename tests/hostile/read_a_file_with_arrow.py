# Tries to read a file through native code.
import pyarrow as pa
pa.OSFile(SECRET).read()
"reached"
