import { extname } from 'node:path';

/** The same report as CSV, as a command for a shell. @param words what was typed after `volley` */
export function csvCommand(words: readonly string[], out: string | undefined): string {
  const kept = words.filter((word, index) => {
    const [name = ''] = word.split('=', 1);
    const isValue = takesValue.includes(words[index - 1] ?? '');
    return !isValue && !takesValue.includes(name) && word !== '--json';
  });
  const file = out === undefined ? 'report.csv' : `${out.slice(0, out.length - extname(out).length)}.csv`;
  return ['volley', ...kept, '--out', file].map(quoteWord).join(' ');
}

const takesValue: readonly string[] = ['--format', '--out'];

function quoteWord(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}
