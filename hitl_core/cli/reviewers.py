"""Who may decide, in words."""

from __future__ import annotations

from hitl_core.model import Reviewers


def who(reviewers: Reviewers) -> str:
    """Who may decide, and what it takes."""
    named = [*reviewers.users, *reviewers.groups]
    if reviewers.channel_members or not reviewers.named:
        named.append("the members of where it stands")
    said = [", ".join(named)]
    if reviewers.quorum > 1:
        said.append(f"{reviewers.quorum} of them must approve")
    if reviewers.reject_quorum > 1:
        said.append(f"{reviewers.reject_quorum} must reject")
    if reviewers.exclude_requester:
        said.append("never who asked the agent")
    if reviewers.editor_approves is not (reviewers.quorum == 1):
        is_vote = "is" if reviewers.editor_approves else "is not"
        said.append(f"an edit {is_vote} its editor's approval")
    return "; ".join(said)
