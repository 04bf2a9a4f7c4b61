"""The local authority of the forward proxy: who may be intercepted, certificates for them, how clients trust it."""
