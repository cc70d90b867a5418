"""One query of Graph: its parameters, selected fields, and pages.

https://learn.microsoft.com/graph/query-parameters
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import quote, urlencode

from ..errors import TeamsError
from ..json_checks import Json
from ..workspace import Workspace


@dataclass(frozen=True)
class Query:
    """`ids` are those in the path. `consistency`: the header ConsistencyLevel."""

    workspace: Workspace
    url: str
    path: str
    ids: dict[str, str]
    params: dict[str, str]
    consistency: str

    def check_params(self, *known: str) -> None:
        """Raises 400 for a parameter that this query doesn't have."""
        unknown = sorted(set(self.params) - {*known, "$skiptoken"})
        if unknown:
            raise _bad(f"Query option {', '.join(unknown)} is not allowed.")

    def require_advanced(self) -> None:
        """A cast in a list of transitive members is an advanced query.
        https://learn.microsoft.com/graph/aad-advanced-queries"""
        if self.consistency != "eventual" or self.params.get("$count") != "true":
            raise TeamsError(
                400,
                "Request_UnsupportedQuery",
                "Needs the header ConsistencyLevel: eventual and $count=true.",
            )

    def select(self, item: Json, default: Sequence[str]) -> Json:
        """The fields that `$select` names, or those that Graph gives without it."""
        names = self.params["$select"].split(",") if "$select" in self.params else default
        unknown = sorted(set(names) - set(item))
        if unknown:
            raise _bad(f"Could not find a property named '{unknown[0]}'.")
        return {name: item[name] for name in names}

    def page(self, items: Sequence[Json], default: int, most: int) -> Json:
        """One page of them. `@odata.nextLink` is the next, if there is one."""
        try:
            size = int(self.params.get("$top", default))
            start = int(self.params.get("$skiptoken", "0"))
        except ValueError:
            raise _bad("Invalid value specified for $top or $skiptoken.") from None
        if not 0 < size <= most:
            raise _bad(f"Invalid page size specified: '{size}'. Must be between 1 and {most}.")
        answer: Json = {"@odata.context": f"{self.url}/$metadata"}
        if self.params.get("$count") == "true" and not start:
            answer["@odata.count"] = len(items)
        if start + size < len(items):
            more = urlencode({**self.params, "$skiptoken": start + size}, safe="$")
            answer["@odata.nextLink"] = f"{self.url}{quote(self.path, safe='/:@')}?{more}"
        return {**answer, "value": list(items[start : start + size])}


def _bad(message: str) -> TeamsError:
    return TeamsError(400, "Request_BadRequest", message)


def not_found(what: str) -> TeamsError:
    text = f"Resource '{what}' does not exist or one of its queried references is not present."
    return TeamsError(404, "Request_ResourceNotFound", text)
