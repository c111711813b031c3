import { createRequire } from 'node:module';
import type pg from 'pg';
import { z } from 'zod';
import { queueSchema } from './queue.ts';

export type QueueVersions = {
  /** Of the tables; null: there are none. */
  readonly installed: number | null;
  /** Of this version's pg-boss. */
  readonly needed: number;
};

const packageSchema = z.object({ pgboss: z.object({ schema: z.number() }) });

export async function readQueueVersions(pool: pg.Pool): Promise<QueueVersions> {
  const { pgboss } = packageSchema.parse(createRequire(import.meta.url)('pg-boss/package.json'));
  const { rows: tables } = await pool.query(
    `SELECT FROM pg_tables WHERE schemaname = '${queueSchema}' AND tablename = 'version'`,
  );
  if (tables.length === 0) return { installed: null, needed: pgboss.schema };
  const { rows } = await pool.query<{ version: number }>(`SELECT version FROM ${queueSchema}.version`);
  return { installed: rows[0]?.version ?? null, needed: pgboss.schema };
}
