"""The chat systems that show cards, a package each: `slack` and `teams`. `contract` says what each must do,
`connection` how the bot connects to it.

A channel never imports another one.
"""
