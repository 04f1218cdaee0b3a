"""Damages a file: damage_file.py flip FILE (one bit in its last quarter) | cut FILE (its last 100 bytes)."""
import sys

how, path = sys.argv[1:]
with open(path, "rb") as file:
    data = bytearray(file.read())
if how == "cut":
    data = data[:-100]
else:
    data[len(data) * 3 // 4] ^= 0x10
with open(path, "wb") as file:
    file.write(data)
