"""Static analysis of shell text: which programs it would run and which files they would use. Nothing is executed.

`budget` limits the analysis. `interpreter` walks the syntax tree (`syntax`) in the order of execution and tracks the
directory, variables, functions and written files. `words` expands words into arguments.
`commands` is the table of programs with their own handler:
those that run text (`scripts`, `languages`, `python_code`), those that run other programs (`wrappers`), and some single
ones (`program_handlers`). `file_uses` knows what other programs do to files, `known_output` what some of them print.
`guesses` is for programs that are in no table.

Rules
- A value that cannot be determined is `UNKNOWN`, never guessed. Both branches of a condition are analysed.
- Steps, sizes and depth are limited. Beyond a limit the call gets the trait `too-complex` or `unreadable-script`.
"""
