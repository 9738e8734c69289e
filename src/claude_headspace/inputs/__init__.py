"""How facts arrive. Every input ends in an `Envelope` that it hands to the engine; none of them knows what it means."""
