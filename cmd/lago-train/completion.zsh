#compdef lago-train
_lago_train() {
    local tab=$'\t'
    local -a lines values
    lines=("${(@f)$("${words[1]}" __complete "${(@)words[2,CURRENT]}" 2>/dev/null)}")
    if [[ -z ${lines[1]} ]]; then
        _files
        return
    fi
    values=("${(@)lines%%$tab*}")
    lines=("${(@)lines/$tab/  -- }")
    compadd -l -d lines -- "${values[@]}"
}
if [[ ${funcstack[1]} == _lago_train ]]; then
    _lago_train "$@"
else
    compdef _lago_train lago-train
fi
