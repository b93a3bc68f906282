function __engramd_offered
	set -l typed (commandline -opc)
	set -l program $typed[1]
	set -e typed[1]
	set -l last (commandline -ct)
	$program __complete fish $typed "$last" 2>/dev/null
end
complete -c engramd -a '(__engramd_offered)'
