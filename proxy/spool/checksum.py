"""crc32 of bytes, for spool entries: zlib's sum, by the processor's own instructions where isal has a wheel."""

try:
    from isal.isal_zlib import crc32
except ImportError:
    from zlib import crc32

__all__ = ["crc32"]
