import type { Command } from 'commander';
import { InputError } from '../../domain/problems.ts';
import { confirmRestored, type DoubtedRun } from '../../engine/schedule/confirm-restored.ts';
import { inspectDatabase } from '../../ledger/connection.ts';
import type { MigrationGap } from '../../ledger/schema.ts';
import { leaseDatabase } from '../../platform/database.ts';
import {
  embeddedServerStatus,
  hasEmbeddedData,
  stopEmbeddedServer,
} from '../../platform/embedded-postgres.ts';
import { requireHome } from '../../platform/project.ts';
import { formatReason, heldLedgerAdvice } from '../../platform/reason-text.ts';
import { parseTime } from '../options.ts';
import { type Shell, withLedger, withNewLedger } from '../shell.ts';

export function define(command: Command, shell: Shell): void {
  const { environment, workingFolder } = shell.settings;
  command.description('Migrates, shows or stops the database: DATABASE_URL, or the embedded server.');
  command
    .command('migrate')
    .description(
      'Migrates the ledger, or makes a new, empty one if there is none. Other commands that change something migrate a ledger too, but make none.',
    )
    .action(async () => {
      await withNewLedger(shell, async ({ ledger }, { description, migrated }) => {
        // This role can migrate the tables of a newer pg-boss; the role of other commands may lack the rights.
        await ledger.queue();
        shell.print(`${description}: ${migrated.length === 0 ? 'up to date.' : migrated.join(', ')}`);
      });
    });
  command
    .command('status')
    .description(
      'Shows which database is used, whether it runs, and whether it has a ledger. Changes nothing.',
    )
    .option('--json', 'print the status as JSON')
    .action(async ({ json }: { json?: true }) => {
      const status = environment['DATABASE_URL'] ? await externalStatus(shell) : embeddedStatus(shell);
      shell.print(json ? JSON.stringify(status) : statusText(status));
    });
  command
    .command('stop')
    .description('Stops the embedded server if a killed command left it running.')
    .action(async () => {
      const wasRunning = await stopEmbeddedServer(requireHome(environment, workingFolder));
      shell.print(`The embedded server ${wasRunning ? 'is stopped' : 'was not running'}.`);
    });
  command
    .command('restored')
    .description(
      'Confirms that the ledger was restored from a backup, was moved, or is a promoted standby. Its unsent requests may have been sent since the backup, so they become in doubt, and their runs are paused. Continue with `volley resume` and `volley resolve` (docs/how-to/backup.md).',
    )
    .option('--since <time>', 'the time of the backup, such as 2026-11-21T08:00:00Z', parseTime)
    .option(
      '--nothing-missing',
      'instead of --since: the ledger is complete, because everything was stopped before the move, or the standby was synchronous; nothing becomes in doubt',
    )
    .requiredOption('--reason <words>', 'the reason, for the audit trail')
    .option('--json', 'print the unfinished runs as JSON')
    .action(async ({ since, nothingMissing, reason, json }: RestoredOptions) => {
      if ((since === undefined) === (nothingMissing === undefined)) {
        const what = 'Use one of the two: the time of the backup, or that nothing is missing.';
        throw new InputError([{ where: '--since, --nothing-missing', what }]);
      }
      const runs = await withLedger(shell, (context) =>
        confirmRestored(context, { reason, since: since ?? null }),
      );
      shell.print(json ? JSON.stringify({ runs }) : restoredText(runs));
    });
}

type RestoredOptions = {
  readonly since?: Date;
  readonly nothingMissing?: true;
  readonly reason: string;
  readonly json?: true;
};

function restoredText(runs: readonly DoubtedRun[]): string {
  const lines = runs.map(
    ({ run, requests }) =>
      `Run ${run}: ${requests} requests are in doubt. \`volley resume ${run}\` looks them up if the account allows it; \`volley resolve ${run}\` resolves the others.`,
  );
  return [...lines, 'The ledger is in use again.'].join('\n');
}

type DatabaseStatus = Readonly<Record<string, unknown>>;

async function externalStatus({ settings }: Shell): Promise<DatabaseStatus> {
  const { connection, description } = await leaseDatabase(
    settings.environment,
    settings.workingFolder,
    false,
  );
  const { version, gap, held } = await inspectDatabase(connection, description);
  const status = { database: 'DATABASE_URL', state: 'running', version, ledger: schemaText(gap) };
  return held === null ? status : { ...status, held: `${formatReason(held)} ${heldLedgerAdvice}` };
}

const noLedgerYet = 'none yet: the database is empty; volley init makes a ledger in it';

function schemaText({ empty, missing, unknown }: MigrationGap): string {
  if (empty) return noLedgerYet;
  if (missing.length > 0)
    return `of an older Volley (${missing.length} migrations are missing); volley db migrate brings it up to date`;
  return unknown.length > 0 ? 'of a newer Volley' : 'up to date';
}

function embeddedStatus({ settings }: Shell): DatabaseStatus {
  const home = requireHome(settings.environment, settings.workingFolder);
  const ledger = hasEmbeddedData(home) ? 'there' : noLedgerYet;
  return { database: 'embedded', ...embeddedServerStatus(home), ledger };
}

function statusText(status: DatabaseStatus): string {
  return Object.entries(status)
    .map(([name, value]) => `${name}: ${value}`)
    .join('\n');
}
