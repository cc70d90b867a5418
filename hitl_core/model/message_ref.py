"""Which message a channel has posted."""

from __future__ import annotations

from hitl_core.model.value import Value


class MessageRef(Value):
    """What a channel needs to find a posted message again.

    - `conversation` and `ts`: their ids in the channel. In Slack `ts` is the message's timestamp;
    - `service_url` and `tenant`: only Teams has them: the address that serves the conversation, and the
      organisation. The address can change.
    """

    channel: str
    conversation: str
    ts: str
    service_url: str = ""
    tenant: str = ""

    @property
    def key(self) -> tuple[str, str, str]:
        """Which message it is: compare this, because the address of a message can change."""
        return self.channel, self.conversation, self.ts
