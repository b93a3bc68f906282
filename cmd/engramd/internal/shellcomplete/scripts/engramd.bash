_engramd() {
	local IFS=$'\n'
	COMPREPLY=($("${COMP_WORDS[0]}" __complete bash "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null))
}
complete -o bashdefault -o default -F _engramd engramd
