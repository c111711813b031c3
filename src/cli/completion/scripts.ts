/**
 * Scripts that ask the installed command on every TAB, so they never grow old. `volley completion suggest` prints a
 * word a line, a TAB and its summary, or `:files` where the shell completes files.
 */
const bash = `# Completion of volley for bash: eval "$(volley completion bash)"
_volley() {
  local current="\${COMP_WORDS[COMP_CWORD]}" word summary
  COMPREPLY=()
  while IFS=$'\\t' read -r word summary; do
    if [ "$word" = ":files" ]; then
      compopt -o filenames 2>/dev/null
      while IFS= read -r word; do COMPREPLY+=("$word"); done < <(compgen -f -- "$current")
    else
      COMPREPLY+=("$word")
    fi
  done < <("\${COMP_WORDS[0]}" completion suggest -- "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
}
complete -F _volley volley
`;

const zsh = `#compdef volley
# Completion of volley for zsh: eval "$(volley completion zsh)", or save it as _volley in a folder of $fpath.
_volley() {
  local -a lines entries
  local line
  lines=("\${(@f)$("\${words[1]}" completion suggest -- "\${(@)words[2,CURRENT]}" 2>/dev/null)}")
  if [[ "\${lines[1]}" == ":files" ]]; then
    _files
    return
  fi
  for line in "\${(@)lines}"; do
    [[ -n "$line" ]] && entries+=("\${\${line%%$'\\t'*}//:/\\\\:}:\${line#*$'\\t'}")
  done
  _describe volley entries
}
if [ "\${funcstack[1]}" = "_volley" ]; then _volley; else compdef _volley volley; fi
`;

const fish = `# Completion of volley for fish: volley completion fish | source
function __volley_suggest
  set -l words (commandline -opc) (commandline -ct)
  set -l found ($words[1] completion suggest -- $words[2..-1] 2>/dev/null)
  if test "$found[1]" = ":files"
    __fish_complete_path (commandline -ct)
  else
    printf '%s\\n' $found
  end
end
complete -c volley -f -a '(__volley_suggest)'
`;

export const completionScripts = { bash, zsh, fish } as const;
