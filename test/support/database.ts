import { randomBytes } from 'node:crypto';
import { inject } from 'vitest';
import type { DatabaseConnection } from '../../src/platform/database.ts';
import { dropDatabase, runStatement, urlOfDatabase } from './statement.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** Of the run's server, with a login that can create databases. */
    testServerUrl: string;
    /** The migrated database from which test databases are cloned; their names begin with its name. */
    testTemplate: string;
    /** For `copyHome`. */
    initialHome: string | undefined;
    /** Whether the server's data can be in memory: fast, but too small for the long tests. */
    dataInMemory: boolean;
  }
}

export type TestDatabase = {
  readonly connection: DatabaseConnection;
  readonly url: string;
  /** Ends remaining connections, and deletes the database. */
  drop(): Promise<void>;
};

/** A migrated, empty database for one test file. */
export function createTestDatabase(): Promise<TestDatabase> {
  return createDatabase(inject('testTemplate'));
}

/** A database without tables. */
export function createBareDatabase(): Promise<TestDatabase> {
  return createDatabase('template0');
}

async function createDatabase(template: string): Promise<TestDatabase> {
  const server = inject('testServerUrl');
  const name = `${inject('testTemplate')}_${randomBytes(6).toString('hex')}`;
  // Takes half the time of the default strategy, which writes every page to the WAL.
  await runStatement(server, `CREATE DATABASE ${name} TEMPLATE ${template} STRATEGY file_copy`);
  const url = urlOfDatabase(server, name);
  const drop = () => dropDatabase(server, name);
  return { connection: { connectionString: url }, url, drop };
}
