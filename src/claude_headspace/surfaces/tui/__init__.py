"""`headspace top`: the board in a terminal, full screen.

`feed` reads agents from the API and its stream into `store`. `presentation` turns the store into lines (pure),
`drawing` and `widgets` draw them, `keys` lists the keys, the modules `*_keys` handle them, `actions` runs what a key
asks for, and `app` connects them. Text from agents is cleaned when it enters the store, so control bytes never reach
the terminal.
"""
