"""Where everything of one instance lies below its state directory, and the log opened with its keys and its guard.

``audit/`` the log · ``keys/`` what must not lie beside it · ``sinks/`` cursors · ``access/`` the log of who unsealed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from audit.checkpoint import Signer, load_signer
from audit.keys import Sealer, load_token_keys
from audit.log import AuditLog
from audit.privacy import Guard, parse_rules
from audit.redact import TokenKeys

DEFAULT = Path("~/.local/state/onlooker")


@dataclass(frozen=True, slots=True)
class State:
    root: Path

    @property
    def audit(self) -> Path:
        return self.root / "audit"

    @property
    def access(self) -> Path:
        return self.root / "access"

    @property
    def sinks(self) -> Path:
        return self.root / "sinks"

    def signer(self) -> Signer:
        return load_signer(self.root / "keys" / "log-signing.pem")

    @property
    def token_key_file(self) -> Path:
        return self.root / "keys" / "redaction.json"

    def token_keys(self) -> TokenKeys:
        return load_token_keys(self.token_key_file)

    def sealer(self) -> Sealer:
        return Sealer(self.root / "keys" / "seal")

    def guard(self, *, rules: Sequence[dict[str, Any]] = (), identities: str = "pseudonym") -> Guard:
        """Raises ValueError naming the rule that is wrong."""
        return Guard(self.token_keys(), rules=parse_rules(rules), identities=identities, sealer=self.sealer())

    def open_log(self, *, guard: Callable[[dict[str, Any]], dict[str, Any]] | None = None, **more: Any) -> AuditLog:
        """The one writer of this state's log; more: AuditLog's own keywords."""
        return AuditLog(self.audit, self.signer(), guard or self.guard(), **more)
