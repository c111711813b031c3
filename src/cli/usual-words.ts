/** Words of other tools, and what they are called here. */
const commands: ReadonlyMap<string, string> = new Map([
  ['apply', 'volley run'],
  ['send', 'volley run'],
  ['start', 'volley run'],
  ['dry-run', 'volley plan'],
  ['preview', 'volley plan'],
  ['lint', 'volley plan --check'],
  ['validate', 'volley plan --check'],
  ['list', 'volley runs'],
  ['ls', 'volley runs'],
  ['logs', 'volley tail'],
  ['continue', 'volley resume'],
  ['retry', 'volley rerun <run> --only failed'],
  ['resend', 'volley rerun <run>'],
  ['abort', 'volley cancel'],
  ['stop', 'volley pause'],
  ['migrate', 'volley db migrate'],
  ['version', 'volley --version'],
]);

const options: ReadonlyMap<string, string> = new Map([
  ['--dry-run', '`volley plan` shows what a run would send, and sends nothing.'],
  ['-v', '`volley --version` prints the version.'],
]);

/** " Use `volley plan`.", or nothing for an unknown word. */
export function adviseCommand(word: string): string {
  const command = commands.get(word);
  return command === undefined ? '' : ` Use \`${command}\`.`;
}

export function adviseOption(word: string): string {
  const advice = options.get(word);
  return advice === undefined ? '' : ` ${advice}`;
}
