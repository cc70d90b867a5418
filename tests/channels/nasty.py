"""Texts that a chat system could read as markup."""

NASTY = (
    "<!channel>",
    "<!here|here>",
    "<@U0CARL>",
    "<#C0OPS>",
    "<!subteam^S0OPS>",
    "<http://evil.example|https://bank.example>",
    "https://evil.example/x",
    "*bold*",
    "_it_",
    "~strike~",
    "`code`",
    "```",
    "> quote",
    ":tada:",
    "&lt;!channel&gt;",
    "<!date^1^{date}|x>",
    "\u202e",
    "\u200b",
    "\n",
    "Approved by security",
)
