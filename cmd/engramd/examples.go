package main

// Help is shown by --help.
func (chatListCommand) Help() string { return "Example:\n  engramd chat list" }

// Help is shown by --help.
func (chatShowCommand) Help() string { return "Example:\n  engramd chat show ID" }

// Help is shown by --help.
func (chatSearchCommand) Help() string { return "Example:\n  engramd chat search Lisbon" }

// Help is shown by --help.
func (chatExportCommand) Help() string { return "Example:\n  engramd chat export ID" }

// Help is shown by --help.
func (chatRenameCommand) Help() string {
	return "Example:\n  engramd chat rename ID 'The move to Lisbon'"
}

// Help is shown by --help.
func (chatForgetCommand) Help() string { return "Example:\n  engramd chat forget ID" }

// Help is shown by --help.
func (chatRestoreCommand) Help() string { return "Example:\n  engramd chat restore ID" }

// Help is shown by --help.
func (chatResumeCommand) Help() string {
	return "Examples:\n  engramd chat resume\n  engramd chat resume ID"
}

// Help is shown by --help.
func (tokenCreate) Help() string {
	return "Examples:\n  engramd token create notes --scope read,write\n  engramd token create dashboard --scope read --only default --expires 720h"
}

// Help is shown by --help.
func (tokenList) Help() string { return "Example:\n  engramd token list" }

// Help is shown by --help.
func (tokenRevoke) Help() string { return "Example:\n  engramd token revoke notes" }

// Help is shown by --help.
func (tokenRotate) Help() string { return "Example:\n  engramd token rotate" }

// Help is shown by --help.
func (tokenLogin) Help() string {
	return "Example:\n  engramd token login"
}

// Help is shown by --help.
func (benchCommand) Help() string {
	return "Examples:\n  engramd bench generate small ./small\n  engramd bench speed --set ./small"
}
