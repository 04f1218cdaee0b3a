# Writes the text of PAGE as one C++ string to OUT, for #include in a list.
file(READ "${PAGE}" text)
file(WRITE "${OUT}" "R\"page(${text})page\",\n")
