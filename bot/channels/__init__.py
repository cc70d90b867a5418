"""The chat systems that show cards. `contract` is what each must do; each has a folder, now `slack`.

A channel never imports another one.
"""
