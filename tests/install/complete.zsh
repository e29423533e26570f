# zsh -f complete.zsh FOLDER WORD...: what an interactive zsh makes of a command line, the last word of which is being typed, when
# FOLDER of completions is in its fpath. The terminal is a pseudo terminal; each step is waited for, none longer than 20 s.
zmodload zsh/zpty zsh/zselect || exit 2

# wait_for MARK: reads what the shell shows until MARK is in it; REPLY is all of it.
wait_for()
{
  local piece
  integer until=$(( SECONDS + 20 ))
  REPLY=
  while (( SECONDS < until )); do
    if zpty -r -t shell piece; then
      REPLY+=$piece
      [[ $REPLY == *$1* ]] && return
    else
      zselect -t 1
    fi
  done
  print -u2 -r -- "no '$1' in: $REPLY"
  exit 1
}

folder=$1
shift
zpty -b shell zsh -f -i
zpty -w shell "PS1= PS2= RPS1= fpath=(${(q)folder} \$fpath) TERM=dumb; unsetopt zle prompt_cr prompt_sp; setopt zle
autoload -Uz compinit && compinit -D -u && zstyle ':completion:*' verbose no
complete-and-show() { zle complete-word; print -r -- \"<\$BUFFER|end>\"; BUFFER=; zle accept-line }
zle -N complete-and-show && bindkey '^T' complete-and-show
print -r -- rea''dy"
wait_for ready
zpty -w -n shell "$*"$'\x14'
wait_for '|end>'
REPLY=${REPLY%|end>*}
print -r -- ${REPLY##*<}
