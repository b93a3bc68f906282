// Command engramd is the engram console and server: it opens a data directory,
// runs EQL statements, imports, checks and measures.
package main

import (
	"cmp"
	"context"
	"io"
	"os"
	"strings"

	"engram/server/exporter"
	"engram/server/importer"

	"github.com/alecthomas/kong"

	"engram"
	"engram/cmd/engramd/internal/shellcomplete"
)

func main() { os.Exit(process()) }

// process is the program as a process of its own, which an interrupt ends in order. What it
// writes is the user's alone, and it leaves no image of its memory behind.
func process() (code int) {
	keepToOurselves()
	ctx, stop := withInterrupts(context.Background())
	defer stop()
	return run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr)
}

// grammar is the command line.
type grammar struct {
	Data      string `help:"Data directory, or the URL of a server." default:"./engram-data" env:"ENGRAM_HOME" placeholder:"DIR"`
	Config    string `help:"Configuration file: a JSON object, flag → value." env:"ENGRAM_CONFIG" placeholder:"FILE"`
	Namespace string `help:"Namespace inside the data directory; without it \"default\"." short:"n" placeholder:"NAME"`
	embedderFlags

	Demo     demoCommand     `cmd:"" help:"Build a small memory in a temporary directory and show what can be asked of it."`
	Query    queryCommand    `cmd:"" help:"Run one EQL statement."`
	Recall   recallCommand   `cmd:"" help:"Recall memories for a question."`
	Compile  compileCommand  `cmd:"" help:"Make a text for a prompt of what comes to mind."`
	Activate activateCommand `cmd:"" help:"Show what comes to mind of some nodes."`
	Remember rememberCommand `cmd:"" help:"Store a memory."`
	Console  consoleCommand  `cmd:"" help:"Type EQL statements, or run a script from stdin."`
	Import   importCommand   `cmd:"" help:"Import memories, notes, chats or a graph from files."`
	Export   exportCommand   `cmd:"" help:"Write a graph to files."`
	Serve    serveCommand    `cmd:"" help:"Serve the data directory by HTTP."`
	Token    tokenCommand    `cmd:"" help:"Make, list and revoke the tokens that a server takes."`
	Stats    statsCommand    `cmd:"" help:"Show what a namespace holds."`
	Audit    auditCommand    `cmd:"" help:"Tell what shape a memory is in, and hold it to a baseline."`
	Ponder   ponderCommand   `cmd:"" help:"Propose links and questions, and change nothing."`
	Check    checkCommand    `cmd:"" help:"Verify everything that is stored."`
	Backup   backupCommand   `cmd:"" help:"Copy a namespace into a folder, checked."`
	Restore  restoreCommand  `cmd:"" help:"Make a namespace of a backup."`
	Compact  compactCommand  `cmd:"" help:"Give free space in a namespace's file back."`
	MCP      mcpCommand      `cmd:"" name:"mcp" help:"Speak the Model Context Protocol on stdin and stdout."`
	Chat     chatGroup       `cmd:"" help:"Talk with an agent that remembers; list, show, search, export and forget what was said."`
	Review   reviewGroup     `cmd:"" help:"Plans and proposals of agents that wait for you: list, show, approve, revise."`
	Verdict  verdictGroup    `cmd:"" help:"Judge what agents planned, proposed and answered."`
	Models   modelsCommand   `cmd:"" help:"Show which models answer chats, where that is set, and whether they can be reached."`
	Gate     gateCommand     `cmd:"" help:"Be a scripted model provider, to try an agent against."`
	Bench    benchCommand    `cmd:"" help:"Measure recall and speed."`
	Help     helpCommand     `cmd:"" help:"Read the reference of EQL: every clause, function, type and error; how to set up MCP clients, or who makes vectors of texts."`
	Complete completeCommand `cmd:"" name:"completion" help:"Print a script by which bash, zsh or fish completes commands and flags."`
	Version  versionCommand  `cmd:"" help:"Print the version."`
}

const description = `engram is a graph database for long-term memory.

Exit codes: 0 ok, 1 error, 2 usage, 3 not found, 4 in use, 5 damaged or check failed, 6 limit, 7 refused.`

// app is what every command runs with.
type app struct {
	ctx       context.Context
	in        io.Reader
	out, err  io.Writer
	data      string
	namespace string
	named     bool // the namespace was given
	embedding engram.Embedding
	known     func(namespace string) (bool, error) // tells what the open directory or server has
}

// exit is how the parser ends the run early, as for --help.
type exit int

// grammarVars are what tags of the grammar name.
func grammarVars() kong.Vars {
	return kong.Vars{"formats": strings.Join(importer.Formats(), ", "), "export_formats": strings.Join(exporter.Formats(), ", ")}
}

// run is the whole program: it never ends the process.
func run(ctx context.Context, args []string, in io.Reader, out, errOut io.Writer) (code int) {
	defer func() {
		switch r := recover().(type) {
		case nil:
		case exit:
			if code = int(r); len(args) == 0 {
				code = exitUsage
			}
		default:
			panic(r)
		}
	}()
	if len(args) > 0 && args[0] == shellcomplete.Command {
		return offer(args[1:], out, errOut)
	}
	var g grammar
	options := []kong.Option{
		kong.Name("engramd"), kong.Description(description),
		grammarVars(),
		kong.Writers(out, errOut),
		kong.Exit(func(code int) { panic(exit(code)) }),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true, WrapUpperBound: 100}),
	}
	if path := configPath(args); path != "" {
		config, err := readConfig(path)
		if err != nil {
			return report(errOut, err)
		}
		options = append(options, kong.Resolvers(config))
	}
	parser, err := kong.New(&g, options...)
	if err != nil {
		return report(errOut, err)
	}
	if len(args) == 0 {
		parser.Stdout = errOut
		_, _ = parser.Parse([]string{"--help"}) // ends the run early
		return exitUsage
	}
	command, err := parser.Parse(args)
	if err != nil {
		return report(errOut, &usageError{err})
	}
	embedding, err := g.embedding(os.Getenv)
	if err != nil {
		return report(errOut, err)
	}
	a := &app{embedding: embedding, ctx: ctx, in: in, out: out, err: errOut, data: g.Data, namespace: cmp.Or(g.Namespace, "default"), named: g.Namespace != ""}
	return report(errOut, command.Run(a))
}
