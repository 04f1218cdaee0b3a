"""Copies an executable with one fault: damage.py IN OUT cut BYTES | flip SECTION (one bit in the middle of that ELF section)."""
import struct
import sys

source, target, how, what = sys.argv[1:]
with open(source, "rb") as file:
    data = bytearray(file.read())
if how == "cut":
    data = data[:int(what)]
else:
    table, = struct.unpack_from("<Q", data, 0x28)
    size, count, names = struct.unpack_from("<HHH", data, 0x3A)
    sections = [struct.unpack_from("<IIQQQQ", data, table + i * size) for i in range(count)]
    text = sections[names][4]
    name = lambda at: data[text + at:data.index(0, text + at)].decode()
    offset, length = next(section[4:6] for section in sections if name(section[0]) == what)
    data[offset + length // 2] ^= 0x10
with open(target, "wb") as file:
    file.write(data)
