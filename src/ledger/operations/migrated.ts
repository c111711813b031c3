import { readdir } from 'node:fs/promises';
import type pg from 'pg';
import { migrationsFolder } from '../connection.ts';

export type MigrationGap = {
  /** This Volley has them, and the database has not. */
  readonly missing: readonly string[];
  /** The database has them from a newer Volley. */
  readonly unknown: readonly string[];
};

/** In what the database's migrations and those of this Volley differ. */
export async function migrationGap(pool: pg.Pool): Promise<MigrationGap> {
  const { rows } = await pool.query<{ name: string }>('SELECT name FROM knex_migrations');
  const there = new Set(rows.map(({ name }) => name));
  const ours = (await readdir(migrationsFolder)).filter((name) => name.endsWith('.ts'));
  return {
    missing: ours.filter((name) => !there.has(name)),
    unknown: [...there].filter((name) => !ours.includes(name)),
  };
}
