/*
 * cli/commands/completion: the script for a shell (completion.ts), and the words it asks for at each press of Tab (complete-words.ts).
 */
import type { Invocation } from "../../invocation.ts";
import type { Outcome } from "../../output/print.ts";
import type { Declare } from "../../act.ts";
import { examples, Argument } from "../../commander.ts";

const bash = `# idp completion for bash. Put this into ~/.bashrc: source <(idp completion bash)
_idp() {
  # bash ends a word at ":", "=" and "@" too and replaces its end only, and it leaves quotes on: idp gets whole words without.
  local line=\${COMP_LINE:0:COMP_POINT} quotes=$'["\\'\\\\\\\\]' word="" kept piece i
  local -a words=()
  for ((i = 0; i <= COMP_CWORD; i++)); do
    if [[ $i == 0 || -z $line || $line == [[:space:]]* ]]; then
      ((i == 0)) || words+=("\${word//$quotes/}")
      word=""
      line=\${line#"\${line%%[![:space:]]*}"}
    fi
    piece=\${COMP_WORDS[i]}
    line=\${line#"$piece"}
    kept=\${word%@}
    [[ $piece == [:=]* ]] && kept+=$piece
    kept=\${kept//$quotes/}
    word+=$piece
  done
  COMPREPLY=()
  while IFS= read -r line; do
    if [[ $line == :files ]]; then
      compopt -o default 2>/dev/null
      return 0
    fi
    line=\${line%%$'\\t'*}
    COMPREPLY+=("\${line#"$kept"}")
  done < <("$1" __complete "\${words[@]:1}" "\${word//$quotes/}" 2>/dev/null </dev/null)
}
complete -F _idp idp
`;

const zsh = `#compdef idp
# idp completion for zsh. Put this into ~/.zshrc, after compinit: source <(idp completion zsh)
_idp() {
  local line
  local -a candidates
  for line in "\${(@f)$("\${words[1]}" __complete "\${(@)words[2,CURRENT-1]}" "$PREFIX" 2>/dev/null </dev/null)}"; do
    if [[ $line == :files ]]; then
      _files
      return
    fi
    [[ -n $line ]] && candidates+=("\${\${line%%$'\\t'*}//:/\\\\:}:\${line#*$'\\t'}")
  done
  _describe -t idp 'idp' candidates
}
if [[ \${funcstack[1]} == _idp ]]; then
  _idp "$@"
else
  compdef _idp idp
fi
`;

const fish = `# idp completion for fish. Put this into ~/.config/fish/config.fish: idp completion fish | source
function __idp_complete
  set -l words (commandline -opc)
  set -l current (commandline -ct)
  set -l lines ($words[1] __complete $words[2..-1] "$current" 2>/dev/null </dev/null)
  if test "$lines[1]" = :files
    __fish_complete_path "$current"
  else if test (count $lines) -gt 0
    printf '%s\\n' $lines
  end
end
complete -c idp -f -a '(__idp_complete)'
`;

const powershell = `# idp completion for PowerShell. Put this into $PROFILE: idp completion powershell | Out-String | Invoke-Expression
Register-ArgumentCompleter -Native -CommandName idp -ScriptBlock {
  param($wordToComplete, $commandAst, $cursorPosition)
  $words = @($commandAst.CommandElements | Select-Object -Skip 1 | Where-Object { $_.Extent.EndOffset -lt $cursorPosition } | ForEach-Object { "$_" })
  $current = "$wordToComplete"
  # Before 7.3, PowerShell drops an empty argument unless it has its own quotes.
  if ($current -eq '' -and ($PSVersionTable.PSVersion -lt [version]'7.3' -or $PSNativeCommandArgumentPassing -eq 'Legacy')) { $current = '""' }
  & idp __complete @words $current 2>$null | Where-Object { $_ -ne ':files' } | ForEach-Object {
    $value, $description = $_ -split '\\t', 2
    if (-not $description) { $description = $value }
    [System.Management.Automation.CompletionResult]::new($value, $value, 'ParameterValue', $description)
  }
}
`;

const scripts = { bash, zsh, fish, powershell } as const;

type Shell = keyof typeof scripts;

/**
 * `idp completion`: prints the script that a shell loads. The script contains no command and no flag: at each press of Tab it calls the
 * `idp` on the line, so it fits every version and knows the names in the data.
 */
async function completion(cli: Invocation, shell: Shell): Promise<Outcome> {
  const script = scripts[shell];
  // Printed as it is, so that the output is the script and nothing else.
  return { document: { shell, script }, text: () => script.trimEnd(), notes: [], failure: null };
}

/** Declares `idp completion`. */
export const declareCompletion: Declare = (command, { act }) => {
  command
    .addArgument(new Argument("<shell>", "which shell").choices(["bash", "zsh", "fish", "powershell"]))
    .addHelpText(
      "after",
      examples(
        "source <(idp completion bash)",
        "echo 'source <(idp completion zsh)' >> ~/.zshrc",
        "idp completion fish > ~/.config/fish/completions/idp.fish",
      ),
    )
    .action(act(completion));
};
