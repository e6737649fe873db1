_lago_train() {
    local lines i
    mapfile -t lines < <("$1" __complete "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
    COMPREPLY=()
    for i in "${lines[@]}"; do
        printf -v i %q "${i%%$'\t'*}" # a name in a folder may hold what the shell would run
        COMPREPLY+=("$i")
    done
}
complete -o default -F _lago_train lago-train
