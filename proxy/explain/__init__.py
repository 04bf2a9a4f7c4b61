"""Why one record says what it says: found in whichever log holds it, and told from the evidence up."""
