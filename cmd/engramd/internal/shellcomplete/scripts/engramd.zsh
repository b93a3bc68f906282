#compdef engramd
_engramd() {
	local -a offered
	offered=(${(f)"$(${words[1]} __complete zsh "${(@)words[2,CURRENT]}" 2>/dev/null)"})
	if (( ${#offered} )); then
		compadd -a offered
	else
		_files
	fi
}
if [[ $zsh_eval_context[-1] == loadautofunc ]]; then
	_engramd "$@"
else
	(( $+functions[compdef] )) || { autoload -Uz compinit && compinit; }
	compdef _engramd engramd
fi
