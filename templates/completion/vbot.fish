# fish completion for vbot
function __vbot_words
    set -l words (commandline -opc)
    set -l current (string unescape -- (commandline -ct); or string trim -l -c '"\'' -- (commandline -ct))
    $words[1] completion words -- $words[2..] "$current" 2>/dev/null
end
complete -c vbot -f -a '(__vbot_words | string match -v ":*")'
complete -c vbot -F -n '__vbot_words | string match -q :files'
complete -c vbot -a '(__fish_complete_directories (commandline -ct) "")' -n '__vbot_words | string match -q :dirs'
