"""A text about who may decide."""

from __future__ import annotations

from hitl_core.model import Reviewers


def describe_reviewers(reviewers: Reviewers) -> str:
    """Who may decide, and how many of them must."""
    named = [*reviewers.users, *reviewers.groups]
    if reviewers.channel_members or not reviewers.is_explicit:
        named.append("the members of the channel where it is shown")
    sentences = [", ".join(named)]
    if reviewers.quorum > 1:
        sentences.append(f"{reviewers.quorum} of them must approve")
    if reviewers.reject_quorum > 1:
        sentences.append(f"{reviewers.reject_quorum} must reject")
    if reviewers.exclude_requester:
        sentences.append("never the person who asked the agent")
    if reviewers.editor_approves is not (reviewers.quorum == 1):
        is_vote = "is" if reviewers.editor_approves else "is not"
        sentences.append(f"an edit {is_vote} an approval by its editor")
    return "; ".join(sentences)
