"""The chat systems that show cards. `contract` is what each must do, `connection` how the bot
connects to it. Each has a folder, now `slack`.

A channel never imports another one.
"""
