"""Applies what people do to reviews and says what they may see, without any word of a chat system.

Public face: `inbox.Inbox`, `access.ReviewAccess`, `homes.HomeLoader`, `drafts.Drafts`, and the values in
`commands`.
"""
