_lago_train() {
    local IFS=$'\n' lines
    lines=($("$1" __complete "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null))
    COMPREPLY=("${lines[@]%%$'\t'*}")
}
complete -o default -F _lago_train lago-train
