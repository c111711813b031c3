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
import { type Shell, withLedger, withNewLedger } from '../shell.ts';

export type RestoredOptions = {
  readonly since?: Date;
  readonly nothingMissing?: true;
  readonly reason: string;
  readonly json?: true;
};

type DatabaseStatus = Readonly<Record<string, unknown>>;

export async function migrateAction(shell: Shell): Promise<void> {
  await withNewLedger(shell, async ({ ledger }, { description, migrated }) => {
    // This role can migrate the tables of a newer pg-boss; the role of other commands may lack the rights.
    await ledger.queue();
    shell.print(`${description}: ${migrated.length === 0 ? 'up to date.' : migrated.join(', ')}`);
  });
}

export async function statusAction(shell: Shell, { json }: { json?: true }): Promise<void> {
  const status = shell.settings.environment['DATABASE_URL']
    ? await externalStatus(shell)
    : embeddedStatus(shell);
  shell.print(json ? JSON.stringify(status) : statusText(status));
}

export async function stopAction(shell: Shell): Promise<void> {
  const wasRunning = await stopEmbeddedServer(
    requireHome(shell.settings.environment, shell.settings.workingFolder),
  );
  shell.print(`The embedded server ${wasRunning ? 'is stopped' : 'was not running'}.`);
}

export async function restoredAction(
  shell: Shell,
  { since, nothingMissing, reason, json }: RestoredOptions,
): Promise<void> {
  if ((since === undefined) === (nothingMissing === undefined)) {
    const what = 'Use one of the two: the time of the backup, or that nothing is missing.';
    throw new InputError([{ where: '--since, --nothing-missing', what }]);
  }
  const runs = await withLedger(shell, (context) =>
    confirmRestored(context, { reason, since: since ?? null }),
  );
  shell.print(json ? JSON.stringify({ runs }) : restoredText(runs));
}

function restoredText(runs: readonly DoubtedRun[]): string {
  const lines = runs.map(
    ({ run, requests }) =>
      `Run ${run}: ${requests === 1 ? '1 request is' : `${requests} requests are`} in doubt. \`volley resume ${run}\` looks them up if the account allows it; \`volley resolve ${run}\` resolves the others.`,
  );
  return [...lines, 'The ledger is in use again.'].join('\n');
}

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
