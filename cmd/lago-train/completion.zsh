#compdef lago-train
_lago_train() {
    local -a opts
    local cur=${words[-1]}
    if [[ $cur == -* ]]; then
        opts=("${(@f)$("${words[@]:0:#words[@]-1}" "$cur" --generate-bash-completion 2>/dev/null)}")
    else
        opts=("${(@f)$("${words[@]:0:#words[@]-1}" --generate-bash-completion 2>/dev/null)}")
    fi
    if [[ -n ${opts[1]} ]]; then
        _describe values opts
    else
        _files
    fi
}
if [[ ${funcstack[1]} == _lago_train ]]; then
    _lago_train "$@"
else
    compdef _lago_train lago-train
fi
