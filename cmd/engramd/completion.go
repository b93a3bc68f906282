package main

import (
	"fmt"
	"io"

	"github.com/alecthomas/kong"

	"engram/cmd/engramd/internal/shellcomplete"
)

type completeCommand struct {
	Shell string `arg:"" help:"Which shell: ${enum}." enum:"bash,zsh,fish"`
}

// Help is shown by --help.
func (completeCommand) Help() string {
	return `Prints a script, by which the shell completes commands, flags and their values with the tab key.

Examples:
  eval "$(engramd completion bash)"    # in ~/.bashrc
  eval "$(engramd completion zsh)"     # in ~/.zshrc
  engramd completion fish > ~/.config/fish/completions/engramd.fish`
}

func (c *completeCommand) Run(a *app) error {
	text, err := shellcomplete.Script(c.Shell)
	a.printf("%s", text)
	return err
}

// offer answers the script of a shell: its name, then the words that were typed.
func offer(args []string, out, errOut io.Writer) (code int) {
	if len(args) == 0 {
		return report(errOut, &usageError{fmt.Errorf("%s is for the scripts of engramd completion, which name their shell", shellcomplete.Command)})
	}
	parser, err := kong.New(&grammar{}, kong.Name("engramd"), grammarVars())
	if err != nil {
		return report(errOut, err)
	}
	for _, way := range shellcomplete.Offer(parser.Model.Node, args[0], args[1:]) {
		if _, err := fmt.Fprintln(out, way); err != nil {
			return report(errOut, err)
		}
	}
	return exitOK
}
