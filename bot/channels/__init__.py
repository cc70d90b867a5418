"""The chat systems that show cards, a package each: `slack` and `teams`. `contract` says what each must do,
`connection` how the bot connects to it, and `answers` reads what it answers.

A channel never imports another one.
"""
