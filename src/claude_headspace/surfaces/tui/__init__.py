"""`headspace top`: the board in a terminal, full screen.

What is shown is made in `presentation`, purely, out of the one `store`; the `feed` fills the store from the API and its
stream; `hands` do what a key asks for; `app` puts them together. Texts of agents are cleaned where they enter
(`store`), so no control byte of a payload ever reaches the terminal.
"""
