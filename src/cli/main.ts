import { Command, CommanderError } from 'commander';
import { InputError } from '../domain/problems.ts';
import { databaseShortage, isConnectionFailure } from '../platform/database-failures.ts';
import { keepHeapSmall } from '../platform/heap.ts';
import { requireLogLevel } from '../platform/log-level.ts';
import { readVersion } from '../platform/package-folder.ts';
import { printable } from '../report/printable.ts';
import type { CommandModule } from './command-modules.ts';
import { envFileOption, withEnvFiles } from './env-file-settings.ts';
import { addExamples } from './examples.ts';
import { explainInput } from './explain-input.ts';
import { colourOption, type ScreenSetters, zoneOption } from './global-options.ts';
import { helpText } from './help-text.ts';
import { OutputError } from './output-error.ts';
import { type ExitCode, processShell, type Shell } from './shell.ts';
import { refuseEmpty, withUsageErrors } from './usage-errors.ts';

type CommandEntry = {
  readonly summary: string;
  readonly alias?: string;
  readonly load: () => Promise<CommandModule>;
};

/** A module is loaded only when its command is called. */
const commands: Readonly<Record<string, CommandEntry>> = {
  init: { summary: 'make a folder a project, with a new ledger', load: () => import('./commands/init.ts') },
  check: {
    summary: 'check a campaign and the files that it names',
    load: () => import('./commands/check.ts'),
  },
  plan: { summary: 'show what a run would send, and send nothing', load: () => import('./commands/plan.ts') },
  run: { summary: 'run a campaign', load: () => import('./commands/run.ts') },
  resume: { summary: 'continue an interrupted or paused run', load: () => import('./commands/resume.ts') },
  approve: {
    summary: 'approve a run, as a second person',
    load: () => import('./commands/approve.ts'),
  },
  pause: { summary: 'stop sending a run; resume continues it', load: () => import('./commands/pause.ts') },
  cancel: { summary: 'end a run for good', load: () => import('./commands/cancel.ts') },
  worker: { summary: 'help to send all runs', load: () => import('./commands/worker.ts') },
  schedule: {
    summary: 'list and update campaigns that run by themselves',
    load: () => import('./commands/schedule.ts'),
  },
  runs: { summary: 'list the runs, newest first', load: () => import('./commands/runs.ts') },
  status: { summary: 'show a run in numbers', load: () => import('./commands/status.ts') },
  tail: {
    summary: 'follow what happens to a run, as it happens',
    load: () => import('./commands/tail.ts'),
  },
  resolve: {
    summary: 'list, look up and resolve requests in doubt',
    load: () => import('./commands/resolve.ts'),
  },
  report: {
    summary: 'report a run, its contacts, a recipient, billing',
    load: () => import('./commands/report.ts'),
  },
  'delivery-reports': {
    summary: 'list delivery reports and missing ones, replay them',
    alias: 'reports',
    load: () => import('./commands/delivery-reports.ts'),
  },
  billing: {
    summary: 'close a month of billing, list closed months',
    load: () => import('./commands/billing.ts'),
  },
  suppress: {
    summary: 'add, remove, import and list suppressed addresses',
    load: () => import('./commands/suppress.ts'),
  },
  account: {
    summary: 'show or change the limits of accounts',
    load: () => import('./commands/account.ts'),
  },
  purge: {
    summary: 'erase addresses, names and messages of old runs',
    load: () => import('./commands/purge.ts'),
  },
  erase: {
    summary: 'erase one person from all runs that have ended',
    load: () => import('./commands/erase.ts'),
  },
  audit: {
    summary: 'list the audit trail: who did what, and when',
    load: () => import('./commands/audit.ts'),
  },
  token: {
    summary: 'create, list and revoke tokens of the API',
    load: () => import('./commands/token.ts'),
  },
  serve: {
    summary: 'receive delivery reports, start schedules, send, and serve the API and the dashboard',
    load: () => import('./commands/serve.ts'),
  },
  dashboard: {
    summary: 'show the ledger in a browser on this machine',
    load: () => import('./commands/dashboard.ts'),
  },
  sandbox: {
    summary: 'start a sandbox of the messaging service',
    load: () => import('./commands/sandbox.ts'),
  },
  doctor: {
    summary: 'check the installation, and say what to do about what it finds',
    load: () => import('./commands/doctor.ts'),
  },
  db: { summary: 'migrate, show or stop the database', load: () => import('./commands/db.ts') },
  completion: {
    summary: 'print the completion script of a shell',
    load: () => import('./commands/completion.ts'),
  },
  schema: {
    summary: 'print the JSON Schema of campaigns or accounts, or the API as OpenAPI',
    load: () => import('./commands/schema.ts'),
  },
  demo: {
    summary: 'show an import, a dispatch and billing on this machine',
    load: () => import('./commands/demo.ts'),
  },
};

export async function main(words: readonly string[]): Promise<void> {
  keepHeapSmall();
  await runCommand(words, processShell(words));
}

export async function runCommand(words: readonly string[], shell: Shell): Promise<void> {
  try {
    await parseCommandLine(words, withEnvFiles(shell, words));
  } catch (error) {
    shell.exitWith(explain(error, shell));
  }
}

/** Explains failures in the colours of --color and the zone of --zone. */
async function parseCommandLine(words: readonly string[], shell: Shell): Promise<void> {
  // --color and --zone change these during parsing.
  const screens = { screen: { ...shell.screen }, noteScreen: { ...shell.noteScreen } };
  const own = { ...shell, ...screens };
  const adjust: ScreenSetters = {
    setColour(choice) {
      if (choice === 'auto') return;
      for (const screen of Object.values(screens)) screen.colour = choice === 'always';
    },
    setZone(zone) {
      for (const screen of Object.values(screens)) screen.zone = zone;
    },
  };
  try {
    requireLogLevel(shell.settings.environment['LOG_LEVEL']);
    const program = await buildProgram(words, own, adjust);
    await program.parseAsync([...words], { from: 'user' });
  } catch (error) {
    shell.exitWith(explain(error, own));
  }
}

export async function buildProgram(
  words: readonly string[],
  shell: Shell,
  { setColour, setZone }: ScreenSetters,
): Promise<Command> {
  const program = withUsageErrors(new Command('volley'))
    .description(
      'Bulk campaign batch engine: nothing lost, nothing silently duplicated, every unknown named.',
    )
    .version(readVersion())
    .addOption(colourOption(setColour))
    .addOption(await zoneOption(words, setZone))
    .addOption(envFileOption())
    .addHelpText('after', helpText())
    .exitOverride()
    .hook('preAction', (_, command) => refuseEmpty(command))
    .configureOutput({
      writeOut: (text) => void shell.result.write(text),
      writeErr: (text) => shell.note(text.trimEnd()),
    });
  const called = calledCommand(program, words);
  for (const [name, { summary, alias, load }] of Object.entries(commands)) {
    const command = program.command(name).summary(summary).description(summary);
    if (alias !== undefined) command.alias(alias);
    if (name !== called) continue;
    await (await load()).define(command, shell, words);
    addExamples(command, name);
  }
  return program;
}

function calledCommand(program: Command, words: readonly string[]): string | undefined {
  const takeValue = new Set(program.options.filter(({ required }) => required).map(({ long }) => long));
  const firstWord = words.find((word, index) => isCommand(word) && !takeValue.has(words[index - 1]));
  if (firstWord === undefined) return undefined;
  return Object.keys(commands).find((name) => name === firstWord || commands[name]?.alias === firstWord);
}

const isCommand = (word: string): boolean =>
  Object.entries(commands).some(([name, { alias }]) => word === name || word === alias);

/** The one place where a failure becomes an exit code. */
function explain(error: unknown, shell: Shell): ExitCode {
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
  if (error instanceof InputError) {
    explainInput(error, shell);
    return 2;
  }
  if (error instanceof OutputError) {
    shell.note(error.message);
    return 1;
  }
  const shortage = databaseShortage(error);
  if (shortage !== undefined) {
    shell.note(
      `Postgres cannot continue: ${shortage}. What is recorded is kept. Make room there. \`volley runs\` lists the runs, and \`volley resume <run>\` continues one.`,
    );
    return 1;
  }
  if (isConnectionFailure(error)) {
    shell.note(
      `The connection to the database was lost: ${printable(error.message)}. What is recorded is kept. \`volley runs\` lists the runs, and \`volley resume <run>\` continues one.`,
    );
    return 1;
  }
  shell.note(
    error instanceof Error ? `Internal error: ${error.stack ?? error.message}` : `Internal error: ${error}`,
  );
  return 1;
}
