import pg from 'pg';
import type { DatabaseConnection } from '../platform/database.ts';
import { everyConnection } from './pools.ts';
import { applySettings, everySession, readOnly } from './session-settings.ts';

/** Connections for a look at a database that may be faulty: they only read, and wait for nothing long. */
export type Inspection = { readonly pool: pg.Pool; readonly close: () => Promise<void> };

/** Milliseconds; the last one applies to a connection without answers. */
const timeouts = { connect: 4_000, statement: 4_000, answer: 4_500 };

export function openInspection(connection: DatabaseConnection): Inspection {
  const settings = { ...everySession, ...readOnly, statement_timeout: String(timeouts.statement) };
  const pool = new pg.Pool({
    ...connection,
    ...everyConnection,
    max: 4,
    connectionTimeoutMillis: timeouts.connect,
    query_timeout: timeouts.answer,
    onConnect: (client) => applySettings(client, settings),
  });
  pool.on('error', () => undefined);
  return { pool, close: () => pool.end() };
}
