"""The closed sets an effect is described with: the product's vocabulary, one enum per field.

``policies/vocab.py`` builds the policy checker, the schemas and the docs from these.
"""

from __future__ import annotations

from enum import StrEnum


class Domain(StrEnum):
    FILESYSTEM = "filesystem"
    STORAGE = "storage"
    VCS = "vcs"
    PACKAGES = "packages"
    PROCESS = "process"
    CODE = "code"
    NETWORK = "network"
    NETWORK_CONFIG = "network_config"
    CONTAINERS = "containers"
    CLOUD = "cloud"
    DATABASE = "database"
    MESSAGING = "messaging"
    SERVICES = "services"
    SCHEDULER = "scheduler"
    IDENTITY = "identity"
    SECRETS = "secrets"
    ENVIRONMENT = "environment"
    KERNEL = "kernel"
    AGENT = "agent"
    UNKNOWN = "unknown"


class Verb(StrEnum):
    """The effect's ``action``."""

    READ = "read"
    CREATE = "create"
    MODIFY = "modify"
    DELETE = "delete"
    EXECUTE = "execute"
    SEND = "send"
    RECEIVE = "receive"
    CONTROL = "control"
    GRANT = "grant"
    UNKNOWN = "unknown"


class Reversibility(StrEnum):
    """OWASP AISVS's scale, mildest first."""

    READ_ONLY = "read_only"
    REVERSIBLE = "reversible"
    EXTERNALLY_REVERSIBLE = "externally_reversible"
    IRREVERSIBLE = "irreversible"
    UNKNOWN = "unknown"


class Breadth(StrEnum):
    ONE = "one"
    MANY = "many"
    RECURSIVE = "recursive"
    ROOT = "root"
    ALL = "all"
    UNKNOWN = "unknown"


class Privilege(StrEnum):
    NONE = "none"
    ELEVATED = "elevated"
    SETUID = "setuid"
    CONTAINER_HOST = "container_host"


class Certainty(StrEnum):
    DEFINITE = "definite"
    POSSIBLE = "possible"
    PROPAGATED = "propagated"
    DECODED = "decoded"


class Condition(StrEnum):
    ALWAYS = "always"
    ON_SUCCESS = "on_success"
    ON_FAILURE = "on_failure"
    BRANCH = "branch"
    LOOP = "loop"
    PROMPT = "prompt"
    DEFERRED = "deferred"


class PathScope(StrEnum):
    WORKSPACE = "workspace"
    TEMP = "temp"
    HOME = "home"
    SYSTEM = "system"
    DEVICE = "device"
    OUTSIDE = "outside"
    REMOTE = "remote"
    UNKNOWN = "unknown"


class Sensitivity(StrEnum):
    NONE = "none"
    ENV_SECRET = "env_secret"  # noqa: S105 - a class of files, not a secret
    CREDENTIAL = "credential"
    PRIVATE_KEY = "private_key"
    VCS_METADATA = "vcs_metadata"
    SHELL_STARTUP = "shell_startup"
    SCHEDULER_FILE = "scheduler_file"
    AUDIT_LOG = "audit_log"
    AGENT_CONFIG = "agent_config"


class Tag(StrEnum):
    PERSISTENCE = "persistence"
    CREDENTIAL_ACCESS = "credential_access"
    EXFILTRATION = "exfiltration"
    REMOTE_CODE = "remote_code"
    DECODED_CODE = "decoded_code"
    OBFUSCATED = "obfuscated"
    REVERSE_SHELL = "reverse_shell"
    BIND_SHELL = "bind_shell"
    DEFENSE_EVASION = "defense_evasion"
    AVAILABILITY = "availability"
    SELF_PROTECTION = "self_protection"
    OVERWRITE = "overwrite"
    HISTORY_REWRITE = "history_rewrite"
    SUPPLY_CHAIN = "supply_chain"
    PUBLIC_EXPOSURE = "public_exposure"
    GUARD_BYPASS = "guard_bypass"


class FlowKind(StrEnum):
    REMOTE_CODE = "remote_code"
    EXFILTRATION = "exfiltration"
    DECODED_CODE = "decoded_code"
    WRITE_THEN_EXECUTE = "write_then_execute"
    SECRET_TO_ARGV = "secret_to_argv"  # noqa: S105 - the name of a flow


class OpaqueReason(StrEnum):
    PARSE_ERROR = "parse_error"
    DYNAMIC_COMMAND = "dynamic_command"
    UNKNOWN_EXECUTABLE = "unknown_executable"
    PAYLOAD_UNREADABLE = "payload_unreadable"
    SIZE_CAP = "size_cap"
    DEPTH_CAP = "depth_cap"
    PARSERS_DISAGREE = "parsers_disagree"
    NOT_ADVERTISED_SCHEMA = "not_advertised_schema"
    REDACTED = "redacted"
    TRUNCATED = "truncated"


class Surface(StrEnum):
    SHELL = "shell"
    POWERSHELL = "powershell"
    CMD = "cmd"
    SQL = "sql"
    HTTP = "http"
    CODE = "code"
    FILES = "files"
    MCP = "mcp"
    BROWSER = "browser"
    SEARCH = "search"
    AGENT = "agent"
    TEXT_ACTION = "text_action"
    UNKNOWN = "unknown"
