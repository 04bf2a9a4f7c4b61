"""What people write for the word meant: the checker suggests the right side.

In: nothing. Out: ``SYNONYMS``.
"""

# fmt: off
SYNONYMS: dict[str, str] = {
    "remove": "delete", "rm": "delete", "destroy": "delete", "drop": "delete", "erase": "delete",
    "write": "modify", "update": "modify", "edit": "modify", "change": "modify", "overwrite": "modify",
    "add": "create", "insert": "create", "new": "create", "run": "execute", "exec": "execute", "get": "read",
    "list": "read", "view": "read", "upload": "send", "post": "send", "push": "send", "download": "receive",
    "fetch": "receive", "stop": "control", "start": "control", "kill": "control", "permit": "grant",
    "file": "filesystem", "files": "filesystem", "fs": "filesystem", "disk": "storage", "git": "vcs",
    "package": "packages", "pip": "packages", "npm": "packages", "net": "network", "http": "network",
    "web": "network", "firewall": "network_config", "docker": "containers", "container": "containers",
    "kubernetes": "cloud", "k8s": "cloud", "aws": "cloud", "db": "database", "sql": "database",
    "mail": "messaging", "email": "messaging", "chat": "messaging", "service": "services",
    "systemd": "services", "cron": "scheduler", "iam": "identity", "user": "identity", "secret": "secrets",
    "credentials": "secrets", "env": "environment", "warning": "medium", "error": "high", "fatal": "critical",
    "warn": "medium", "moderate": "medium", "severe": "critical", "informational": "info",
     "production": "stable", "active": "stable", "beta": "test",
    "permanent": "irreversible",   "sudo": "elevated",
    "tool.name": "call.name", "tool": "call.name", "tool_name": "call.name", "agent.name": "agent.id",
    "session.deletes": "session.counts.deletes", "hour": "time.hour", "weekday": "time.weekday",
    "environment.name": "env.name", "call.tool": "call.name", "call.surface": "classification.surface",
    "surface": "classification.surface", "sensitivity": "data.sensitivity",
    "exfil": "exfiltration", "persist": "persistence", "everything": "all", "rce": "remote_code",
}
