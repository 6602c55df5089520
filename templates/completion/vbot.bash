# bash completion for vbot
# Bash splits --mode=cascade into three words and expects completions of the last one only.
# Bash 3.2, on macOS, has no compopt.
_vbot() {
    local -a words=()
    local word line glue='' current=${COMP_WORDS[COMP_CWORD]} n=0
    for word in "${COMP_WORDS[@]:1:COMP_CWORD}"; do
        word=${word#[\"\']} word=${word%[\"\']} word=${word//\\/}
        if [[ $n -gt 0 && ( $word == = || $glue ) ]]; then
            words[n-1]+=$word
            [[ $word == = ]] && glue=1 || glue=
        else
            words[n++]=$word
        fi
    done
    [[ $current == = ]] && current=
    current=${current#[\"\']} current=${current//\\/}
    COMPREPLY=()
    while IFS= read -r line; do
        case $line in
        :files | :dirs)
            local action=file
            [[ $line == :dirs ]] && action=directory
            compopt -o filenames 2>/dev/null
            while IFS= read -r word; do
                COMPREPLY+=("$word")
            done < <(compgen -A "$action" -- "$current")
            ;;
        *)
            word=${line%%$'\t'*}
            [[ $word == --*=* ]] && word=${word#*=}
            COMPREPLY+=("$word")
            ;;
        esac
    done < <("${COMP_WORDS[0]}" completion words -- "${words[@]}" 2>/dev/null)
}
complete -F _vbot vbot
