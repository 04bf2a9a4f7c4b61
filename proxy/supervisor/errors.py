"""The supervisor's one error: nothing was started, with a sentence for the operator and the exit code."""


class StartError(Exception):
    """Nothing was started. ``code`` is the exit code; the message is one sentence for the operator."""

    def __init__(self, message: str, code: int = 3) -> None:
        super().__init__(message)
        self.code = code
