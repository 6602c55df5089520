#compdef vbot
# zsh completion for vbot
# Zsh keeps words as typed: (Q) removes quotes, and (qq) adds them for _call_program, which
# evaluates its arguments. PREFIX lacks an open quote. For a word without a description,
# _describe would repeat the word.
_vbot() {
    local line word
    local -a answers found plain
    answers=("${(@f)$(_call_program words "${(q)words[1]}" completion words -- "${(@qq)${(@Q)words[2,CURRENT-1]}}" "${(qq)${(Q)PREFIX}}" 2>/dev/null)}")
    for line in $answers; do
        word=${line%%$'\t'*}
        case $line in
        :files) compset -P '--*='; _files ;;
        :dirs) compset -P '--*='; _directories ;;
        *$'\t'*) found+=("${word//:/\\:}:${line#*$'\t'}") ;;
        *) plain+=("$word") ;;
        esac
    done
    (( $#plain )) && compadd -a plain
    (( $#found )) && _describe vbot found
}
if [[ $funcstack[1] == _vbot ]]; then
    _vbot "$@"
elif (( $+functions[compdef] )); then
    compdef _vbot vbot
else
    print -u2 'vbot: zsh completion is off; before this, run: autoload -Uz compinit && compinit'
fi
