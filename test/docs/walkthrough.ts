import type { Block, Piece } from '../support/documents.ts';
import { blocksOf, shellLinesOf } from '../support/documents.ts';

/** Commands that the walkthrough does not type, each with the reason, and the place where it is tried. */
export const notTyped: readonly (readonly [command: RegExp, reason: string])[] = [
  [/^npm ci\b/, 'would install into the folder of this test; test/whole/install.whole.ts installs'],
  [/^npm run demo/, 'test/cli/demo.whole.ts runs it'],
  [
    /^npm (pack$|install --(global|prefix) )/,
    'installs for all users; test/whole/install.whole.ts installs the packed file',
  ],
  [
    /^(useradd|install -d -o|cp .*\.service|systemctl) /,
    'changes the machine, as root; test/docs/deploy.test.ts checks the unit',
  ],
  [/volley doctor\) /, 'checks the started service; test/cli/doctor.whole.ts runs it'],
  [
    /^(\(umask 077; pg_dump|pg_(restore|basebackup|ctl)|cp -a \/backup|cat >> \/var\/lib|touch \/var\/lib) ?/,
    'needs programs of Postgres that are not embedded; test/torture/restore.torture.ts types it',
  ],
  [
    /^(mv \.volley |mkdir \.volley |psql )/,
    'needs a former ledger; test/cli/unfit-ledgers.whole.ts takes its suppressions along',
  ],
  [/^podman(-compose)? /, 'needs a builder of images; test/docs/deploy.test.ts reads what it would start'],
];

/** One thing that the reader does on a page: a command to type, lines of a crontab, or a file to save. */
export type Step = Piece & { readonly kind: 'command' | 'crontab' | 'file' };

/** In the order of the page. */
export function stepsOf(path: string): Step[] {
  return blocksOf(path).flatMap(stepsOfBlock);
}

function stepsOfBlock(block: Block): Step[] {
  if (block.language === 'cron') return [{ ...block, kind: 'crontab' }];
  if (block.language === 'yaml' && fileOf(block.text) !== undefined) return [{ ...block, kind: 'file' }];
  if (block.language !== 'sh') return [];
  return shellLinesOf(block)
    .filter(({ text }) => !/^\s*#/.test(text))
    .map((line) => ({ ...line, kind: 'command' }));
}

/** A block that begins with `# campaigns/first.yaml` is that file. */
export function fileOf(text: string): string | undefined {
  return /^# ([\w./-]+\.yaml)$/m.exec(text.split('\n', 2).join('\n'))?.[1];
}

export const isTyped = ({ text }: Piece): boolean => !notTyped.some(([command]) => command.test(text));

/** A comment such as `# ends with 3: …` says how a command ends; without one it ends with 0. */
export function exitCodeOf(command: string): number {
  return Number(/#.*\bends with (\d+)/.exec(command)?.[1] ?? 0);
}

/** What cron starts, and the variables that it starts it with. */
export type Crontab = {
  readonly environment: Readonly<Record<string, string>>;
  readonly commands: readonly string[];
};

export function readCrontab(text: string): Crontab {
  const lines = text.split('\n').filter((line) => line.trim() !== '' && !line.startsWith('#'));
  const settings = lines.filter((line) => /^\w+ *=/.test(line));
  const jobs = lines.filter((line) => !settings.includes(line));
  return {
    environment: Object.fromEntries(settings.map((line) => line.split('=', 2))),
    commands: jobs.map((line) => line.replace(/^(?:@\w+|(?:\S+\s+){5})\s*/, '')),
  };
}
