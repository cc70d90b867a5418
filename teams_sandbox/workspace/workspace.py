"""The state of the tenant, and what listens to its changes. No HTTP."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from .objects import App, Conversation, File, Group, Message, Team, User, long_id


class Workspace:
    """One tenant and one app. Every change calls the listeners, so that a page can update itself. `users`:
    those that a page shows. `crowd`: the many others of a large team."""

    def __init__(
        self,
        tenant_id: str,
        name: str,
        app: App,
        users: list[User],
        conversations: list[Conversation],
        now: Callable[[], float],
        *,
        groups: Iterable[Group] = (),
        crowd: Iterable[User] = (),
    ) -> None:
        self.tenant_id, self.name, self.app, self.now = tenant_id, name, app, now
        self.users = {user.id: user for user in users}
        self.crowd = {user.id: user for user in crowd}
        self.groups = {group.id: group for group in groups}
        self.conversations = {one.id: one for one in conversations}
        self.files: dict[str, File] = {}
        self._people = {
            name: user
            for user in (*self.users.values(), *self.crowd.values())
            for name in (user.id, user.mri, user.upn.lower())
        }
        self._last_id = 0
        self._listeners: list[Callable[[], None]] = []
        for user in users:
            if user.has_app:
                self.open_personal_chat(user)

    def on_change(self, listener: Callable[[], None]) -> Callable[[], None]:
        """Calls `listener` after every change. The returned function removes it."""
        self._listeners.append(listener)
        return lambda: self._listeners.remove(listener)

    def notify_change(self) -> None:
        for listener in list(self._listeners):
            listener()

    def next_id(self) -> str:
        """Milliseconds, unique and increasing: the id of a message in Teams."""
        self._last_id = max(self._last_id + 1, int(self.now() * 1000))
        return str(self._last_id)

    def person(self, name: str) -> User | None:
        """Finds a person by aadObjectId, MRI (`29:…`) or user principal name."""
        return self._people.get(name) or self._people.get(name.lower())

    def tenant_of(self, user: User) -> str:
        return user.tenant_id or self.tenant_id

    def team(self, team_id: str) -> Team | None:
        """Finds a team by its id or its aadGroupId."""
        for team in self.teams():
            if team_id in (team.id, team.group_id):
                return team
        return None

    def teams(self) -> list[Team]:
        teams = [one.team for one in self.conversations.values() if one.is_general and one.team]
        return [team for team in teams if not team.is_deleted]

    def channels(self, team: Team) -> list[Conversation]:
        return [
            one for one in self.conversations.values() if one.team is team and not one.is_deleted
        ]

    def members(self, conversation: Conversation) -> list[User]:
        """The people in it; people that the tenant deleted are left out."""
        standard = conversation.team is not None and conversation.kind == "standard"
        ids = conversation.team.members if conversation.team and standard else conversation.members
        return [user for one in ids if (user := self.person(one)) is not None]

    def find_conversation(self, conversation_id: str) -> Conversation | None:
        """By its id; what follows `;messageid=` names a thread in it."""
        found = self.conversations.get(conversation_id.split(";", 1)[0])
        gone = found is None or found.is_deleted or (found.team and found.team.is_deleted)
        return None if gone else found

    def has_app(self, conversation: Conversation) -> bool:
        """Whether the app is installed there."""
        if conversation.type == "personal":
            user = self.person(conversation.members[0])
            return user is not None and user.has_app
        if conversation.team is None:
            return conversation.installed
        in_channel = conversation.installed or conversation.kind == "standard"
        return conversation.team.installed and in_channel

    def open_personal_chat(self, user: User) -> Conversation:
        """The chat of this person and the app; it is created if needed."""
        chat_id = f"a:1{long_id('chat', user.id, self.app.client_id)}"
        if chat_id not in self.conversations:
            self.conversations[chat_id] = Conversation(chat_id, "personal", "", [user.id])
            self.notify_change()
        return self.conversations[chat_id]

    def graph_chat_id(self, conversation: Conversation) -> str:
        """Graph has another id for a personal chat than the Connector."""
        if conversation.type == "personal":
            return f"19:{conversation.members[0]}_{self.app.client_id}@unq.gbl.spaces"
        return conversation.id

    def add_message(
        self, conversation: Conversation, sender: str, text: str = "", root: str | None = None
    ) -> Message:
        """An empty message, which the caller fills. In channels, one without `root` begins a thread."""
        new_id = self.next_id()
        in_thread = conversation.type == "channel"
        message = Message(
            conversation.id, new_id, sender, text, root=(root or new_id) if in_thread else None
        )
        conversation.messages[new_id] = message
        return message

    def add_user(self, user: User) -> None:
        self.users[user.id] = user
        for name in (user.id, user.mri, user.upn.lower()):
            self._people[name] = user
        self.notify_change()

    def remove_user(self, user_id: str) -> None:
        """Deletes the person from the tenant: they are in no conversation any more, nor in Graph."""
        user = self.users.pop(user_id)
        for name in (user.id, user.mri, user.upn.lower()):
            del self._people[name]
        self.notify_change()

    def conversation_name(self, conversation: Conversation) -> str:
        """The name that a page shows."""
        if conversation.team:
            return f"{conversation.team.name} > {conversation.name}"
        if conversation.type == "personal":
            user = self.person(conversation.members[0])
            return f"{self.app.name} and {user.display_name if user else 'somebody'}"
        return conversation.name
