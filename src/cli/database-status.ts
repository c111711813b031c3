import { heldLedgerAdvice } from '../domain/hold-reasons.ts';
import { formatReason } from '../domain/reasons.ts';
import { inspectDatabase } from '../ledger/connection.ts';
import type { SchemaState } from '../ledger/fingerprint.ts';
import { describeSchema } from '../ledger/schema.ts';
import { leaseDatabase } from '../platform/database.ts';
import { embeddedServerStatus, hasEmbeddedData } from '../platform/embedded-postgres.ts';
import { requireHome } from '../platform/project.ts';
import type { Shell } from './shell.ts';

type DatabaseStatus = Readonly<Record<string, unknown>>;

export async function readDatabaseStatus(shell: Shell): Promise<DatabaseStatus> {
  if (!shell.settings.environment['DATABASE_URL']) return embeddedStatus(shell);
  return { database: 'DATABASE_URL', state: 'running', ...(await inspectLedger(shell)) };
}

/** Starts no server, and does not become the last user of one, who would stop it. */
async function embeddedStatus(shell: Shell): Promise<DatabaseStatus> {
  const home = requireHome(shell.settings.environment, shell.settings.workingFolder);
  const server = embeddedServerStatus(home);
  const status = { database: 'embedded', ...server };
  if (!hasEmbeddedData(home)) return { ...status, ledger: noLedgerYet };
  return { ...status, ...(server.leases.length > 0 ? await inspectLedger(shell) : { ledger: 'there' }) };
}

async function inspectLedger({ settings }: Shell): Promise<DatabaseStatus> {
  const { environment, workingFolder } = settings;
  const { connection, description, release } = await leaseDatabase(environment, workingFolder, false);
  try {
    const { version, schema, onHold } = await inspectDatabase(connection, description);
    const status = { version, ledger: schemaText(schema) };
    return onHold === null ? status : { ...status, held: `${formatReason(onHold)} ${heldLedgerAdvice}` };
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
