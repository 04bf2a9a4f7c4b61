"""How well commands are read: labelled corpora in, a card of counts out (``docs/scorecard.md``)."""
