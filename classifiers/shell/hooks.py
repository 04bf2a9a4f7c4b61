"""Variables through which other programs are made to run something: a name and a value in, what that means out.

Some hold a command (``GIT_SSH_COMMAND``), some a file of code (``BASH_ENV``), some options that load code
(``NODE_OPTIONS``), some a library (``LD_PRELOAD``), some a file that programs log to (``GIT_TRACE``). Sources: bash(1)
INVOCATION, git(1) ENVIRONMENT, ld.so(8), python(1), perlrun(1), ruby(1), node(1), java(1), less(1), man(1), curl(1).
"""

from __future__ import annotations

import re

# Programs run the value as a command.
_COMMANDS = """GIT_SSH_COMMAND GIT_SSH GIT_PAGER GIT_EDITOR GIT_EXTERNAL_DIFF GIT_SEQUENCE_EDITOR GIT_PROXY_COMMAND
GIT_ASKPASS SSH_ASKPASS PAGER MANPAGER SYSTEMD_PAGER EDITOR VISUAL FCEDIT BROWSER LESSOPEN LESSCLOSE PROMPT_COMMAND
RSYNC_RSH CVS_RSH TAR_RSH SUDO_ASKPASS SUDO_EDITOR PSQL_PAGER PSQL_EDITOR"""
COMMANDS = frozenset(_COMMANDS.split())
# Builds run these in place of the tool one always uses; a compiler with its options is no surprise.
_BUILD = """CC CXX CPP LD AR NM AS FC RANLIB STRIP OBJCOPY RUSTC RUSTDOC RUSTC_WRAPPER RUSTC_WORKSPACE_WRAPPER
CARGO_BUILD_RUSTC_WRAPPER CMAKE_C_COMPILER_LAUNCHER CMAKE_CXX_COMPILER_LAUNCHER CCACHE_PREFIX RM INSTALL PYTHON MAKE
npm_config_script_shell NPM_CONFIG_SCRIPT_SHELL npm_config_git NPM_CONFIG_GIT YARN_YARN_PATH GOCC"""
BUILD = frozenset(_BUILD.split())
_USUAL = re.compile(
    r"(?:\S*/)?(?:[\w.-]*(?:gcc|g\+\+|clang|cc|c\+\+|ld|ar|nm|as|gfortran|ranlib|strip|objcopy|rustc|rustdoc|python[\d.]*|bash"
    r"|make|install|sccache|ccache|distcc|icecc|go|zig|nvcc|icx|icpx|mold|lld|rm|zsh|sh|env))(?:-[\d.]+)?(?:\s+[\w./=+,@:-]+)*"
)
# Shells and interpreters run the file the value names.
_FILES = {"BASH_ENV": "shell", "ENV": "shell", "PYTHONSTARTUP": "python"}
# Search paths for code and settings, which run code only where anyone could have put it.
_SEARCHED = """PYTHONPATH PYTHONHOME PERL5LIB RUBYLIB NODE_PATH CLASSPATH GIT_TEMPLATE_DIR GIT_DIR GIT_CONFIG_GLOBAL
GIT_CONFIG_SYSTEM GIT_CONFIG ANSIBLE_CONFIG ANSIBLE_LIBRARY ANSIBLE_ROLES_PATH PSQLRC CURL_HOME WGETRC PIP_CONFIG_FILE
NPM_CONFIG_USERCONFIG npm_config_userconfig CARGO_HOME PYTHONUSERBASE R_PROFILE R_PROFILE_USER JULIA_LOAD_PATH
TCLLIBPATH MYVIMRC"""
# Options for a run-time that load code the call does not hold.
_AGENTS = re.compile(r"-(?:javaagent|agentpath|agentlib)")  # of a Java machine
_LOADS = {
    "NODE_OPTIONS": re.compile(r"(?:^|\s)(?:-r|--require|--import|--loader|--experimental-loader)\b"),
    "PERL5OPT": re.compile(r"-[MmdI]|-e"),
    "RUBYOPT": re.compile(r"-r|-I"),
    "JAVA_TOOL_OPTIONS": _AGENTS,
    "_JAVA_OPTIONS": _AGENTS,
    "JDK_JAVA_OPTIONS": _AGENTS,
    "GOFLAGS": re.compile(r"-(?:toolexec|exec|overlay|modfile)[= ]"),
    "MAKEFLAGS": re.compile(r"(?:^|\s)(?:SHELL=|--eval|-f|--file|--makefile)"),
    "MAVEN_OPTS": _AGENTS,
    "GRADLE_OPTS": _AGENTS,
    "LUA_INIT": re.compile(r"."),
    "PYTHONBREAKPOINT": re.compile(r"[^0]"),
    "LD_PRELOAD": re.compile(r"."),
    "LD_AUDIT": re.compile(r"."),
    "DYLD_INSERT_LIBRARIES": re.compile(r"."),
    "GCONV_PATH": re.compile(r"."),
    "GIT_EXEC_PATH": re.compile(r"."),
    "ZDOTDIR": re.compile(r"."),
    **dict.fromkeys(("COR_PROFILER_PATH", "CORECLR_PROFILER_PATH", "DOTNET_STARTUP_HOOKS"), re.compile(r".")),
    # search paths for code: only where anyone could have put it
    **dict.fromkeys(
        _SEARCHED.split(),
        re.compile(r"(?:^|:)/(?:tmp|var/tmp|dev/shm)(?:/(?![\w./-]*/(?:site-packages|src|lib)\b)|:|$)"),
    ),
}
_ANYONES = re.compile(r"(?:\.{0,2}|/(?:tmp|var/tmp|dev/shm)(?:/(?!\S*/?(?:bin|Scripts)/?$)\S*)?/?)")
_LOGGED = re.compile(r"SSLKEYLOGFILE|GIT_TRACE\w*")
EDITOR_ORDERS = frozenset({"VIMINIT", "EXINIT", "GVIMINIT"})
LIBRARIES = frozenset({"LD_PRELOAD", "LD_AUDIT", "DYLD_INSERT_LIBRARIES"})  # the value is the library's path
TAGS = {
    **dict.fromkeys(("LD_PRELOAD", "LD_AUDIT", "LD_LIBRARY_PATH", "DYLD_INSERT_LIBRARIES"), ("defense_evasion",)),
    "PROMPT_COMMAND": ("persistence",),
    "SSLKEYLOGFILE": ("credential_access",),  # whoever reads it can read what was sent under TLS
    **dict.fromkeys(("COR_PROFILER_PATH", "CORECLR_PROFILER_PATH", "DOTNET_STARTUP_HOOKS"), ("defense_evasion",)),
}
_OPERATOR = re.compile(r"[;|&`<>]|\$\(|\s-c\s")
_PROGRAMS = re.compile(r"\|?\s*/(?:tmp|var/tmp|dev/shm)/\S+")
# Agents start without their guards: their plug-ins and hooks, and who is asked.
_UNGUARDED = frozenset(
    {"OPENCODE_PURE", "OPENCODE_DISABLE_DEFAULT_PLUGINS", "OPENCODE_PERMISSION", "CLAUDE_CODE_SIMPLE"}
)
_HISTORY = frozenset({"HISTFILE", "HISTSIZE", "HISTFILESIZE"})
AT_ONCE = _HISTORY | {"PATH"}  # what the running shell itself goes by, exported or not
PROMPTS = frozenset({"PS0", "PS1", "PS2", "PS3", "PS4", "PROMPT", "RPROMPT", "BASH_ENV", "ENV"})  # expanded when used


def tags(name: str, value: object) -> tuple[str, ...]:
    """What setting this variable to this value says: history thrown away, libraries put in front."""
    if name in _HISTORY:
        return ("defense_evasion",) if value in {"", "0", "/dev/null"} else ()
    if name in _UNGUARDED:
        return ("guard_bypass", "defense_evasion") if value not in {"", "0", "false"} else ()
    if name == "PATH" and isinstance(value, str):
        return ("defense_evasion",) if _programs_from_anywhere(value) else ()
    if name in COMMANDS and isinstance(value, str) and _PROGRAMS.match(value):
        return (*TAGS.get(name, ()), "defense_evasion")
    return TAGS.get(name, ())


def _programs_from_anywhere(path: str) -> bool:
    """Whether programs are looked for first where anyone can put one (an installed tree's ``bin`` is meant)."""
    for place in path.split(":"):
        if _ANYONES.fullmatch(place):
            return True
        if not place.startswith(("/tmp/", "/var/tmp/", "/dev/shm/")):  # noqa: S108 - looked for, not written
            return False
    return False


def is_command(name: str, value: str) -> bool:
    """Whether programs will run ``value``. A bare word names the program one always uses (``EDITOR=vim``)."""
    if name in BUILD:
        return bool(_PROGRAMS.match(value)) or bool(_OPERATOR.search(value)) or not _USUAL.fullmatch(value.strip())
    return name in COMMANDS and bool(value.strip()) and not re.fullmatch(r"[\w.+-]+", value.strip())


def file_language(name: str, value: str) -> str | None:
    """The language of the file ``value`` names, where a program will run it. ``ENV=production`` is no file."""
    return None if value == "/dev/null" or (name == "ENV" and "/" not in value) else _FILES.get(name)


def is_logged_to(name: str, value: str) -> bool:
    """Whether programs append to the file ``value`` names; git takes only an absolute one (``GIT_TRACE=1``)."""
    return bool(_LOGGED.fullmatch(name)) and (value.startswith("/") or not name.startswith("GIT_"))


def loads_code(name: str, value: str) -> bool:
    """Whether ``value`` makes a program load code from a file the call does not hold."""
    known = _LOADS.get(name)
    return known is not None and known.search(value) is not None
