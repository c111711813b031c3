import type { BegunRun } from '../../domain/claim-marks.ts';
import { InputError } from '../../domain/problems.ts';
import { confirmRestored, type Restored } from '../../engine/schedule/confirm-restored.ts';
import { inspectDatabase } from '../../ledger/connection.ts';
import type { SchemaState } from '../../ledger/fingerprint.ts';
import { describeSchema } from '../../ledger/schema.ts';
import { leaseDatabase } from '../../platform/database.ts';
import {
  embeddedServerStatus,
  hasEmbeddedData,
  stopEmbeddedServer,
} from '../../platform/embedded-postgres.ts';
import { requireHome } from '../../platform/project.ts';
import { formatReason, heldLedgerAdvice } from '../../platform/reason-text.ts';
import { lostRunsText } from '../lost-runs-text.ts';
import { type Shell, withLedger, withNewLedger } from '../shell.ts';

export type RestoredOptions = {
  readonly since?: Date;
  readonly nothingMissing?: true;
  readonly reason: string;
  readonly json?: true;
};

type DatabaseStatus = Readonly<Record<string, unknown>>;

export async function migrateAction(shell: Shell): Promise<void> {
  await withNewLedger(shell, async ({ ledger }, { description, migrated, newer }) => {
    // This role can migrate the tables of a newer pg-boss; the role of other commands may lack the rights.
    await ledger.queue();
    const upToDate = newer === undefined ? 'up to date.' : 'nothing was migrated.';
    shell.print(`${description}: ${migrated.length === 0 ? upToDate : migrated.join(', ')}`);
  });
}

export async function statusAction(shell: Shell, { json }: { json?: true }): Promise<void> {
  const status = shell.settings.environment['DATABASE_URL']
    ? await externalStatus(shell)
    : await embeddedStatus(shell);
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
  const { doubted, lost } = await withLedger(shell, (context) =>
    confirmRestored(context, { reason, since: since ?? null }),
  );
  shell.print(
    json ? JSON.stringify({ runs: doubted, missing: lost.map(missingRun) }) : restoredText({ doubted, lost }),
  );
}

function missingRun({ run, campaign, at }: BegunRun): Pick<BegunRun, 'run' | 'campaign' | 'at'> {
  return { run, campaign, at };
}

function restoredText({ doubted, lost }: Restored): string {
  const lines = doubted.map(
    ({ run, requests }) =>
      `Run ${run}: ${requests === 1 ? '1 request is' : `${requests} requests are`} in doubt. \`volley resume ${run}\` looks them up if the account allows it; \`volley resolve ${run}\` resolves the others.`,
  );
  return [...lines, ...lostRunsText(lost), 'The ledger is in use again.'].join('\n');
}

async function externalStatus(shell: Shell): Promise<DatabaseStatus> {
  return { database: 'DATABASE_URL', state: 'running', ...(await inspectLedger(shell)) };
}

async function inspectLedger({ settings }: Shell): Promise<DatabaseStatus> {
  const { environment, workingFolder } = settings;
  const { connection, description, release } = await leaseDatabase(environment, workingFolder, false);
  try {
    const { version, schema, held } = await inspectDatabase(connection, description);
    const status = { version, ledger: schemaText(schema) };
    return held === null ? status : { ...status, held: `${formatReason(held)} ${heldLedgerAdvice}` };
  } finally {
    await release();
  }
}

const noLedgerYet = 'none yet: the database is empty; volley init makes a ledger in it';

function schemaText(state: SchemaState): string {
  if (state.kind === 'empty') return noLedgerYet;
  const { found, nextStep } = describeSchema(state);
  return nextStep === undefined ? found : `${found}. ${nextStep}`;
}

/** Starts no server, and does not become the last user of one, who would stop it. */
async function embeddedStatus(shell: Shell): Promise<DatabaseStatus> {
  const home = requireHome(shell.settings.environment, shell.settings.workingFolder);
  const server = embeddedServerStatus(home);
  const status = { database: 'embedded', ...server };
  if (!hasEmbeddedData(home)) return { ...status, ledger: noLedgerYet };
  return { ...status, ...(server.leases.length > 0 ? await inspectLedger(shell) : { ledger: 'there' }) };
}

function statusText(status: DatabaseStatus): string {
  return Object.entries(status)
    .map(([name, value]) => `${name}: ${value}`)
    .join('\n');
}
