"""Files that give a session its context: Claude OS files, instruction files, skills."""
