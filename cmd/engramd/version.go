package main

import "runtime/debug"

type versionCommand struct{}

// Help is shown by --help.
func (versionCommand) Help() string { return "Example:\n  engramd version" }

func (versionCommand) Run(a *app) error {
	a.printf("engramd %s\n", version())
	return nil
}

// version tells which engramd it is.
func version() string {
	version, revision, dirty := "(devel)", "", ""
	if info, ok := debug.ReadBuildInfo(); ok {
		if v := info.Main.Version; v != "" {
			version = v
		}
		for _, s := range info.Settings {
			switch {
			case s.Key == "vcs.revision":
				revision = " commit " + s.Value
			case s.Key == "vcs.modified" && s.Value == "true":
				dirty = " with local changes"
			}
		}
	}
	return version + revision + dirty
}
