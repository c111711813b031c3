import { randomBytes } from 'node:crypto';
import { inject } from 'vitest';
import type { DatabaseConnection } from '../../src/platform/database.ts';
import { dropDatabase, runStatement, urlOfDatabase } from './statement.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** The address of the run's server, with a login that may create databases. */
    testServerUrl: string;
    /** The migrated database that test databases are cloned from; their names begin with its name. */
    testTemplate: string;
    /** For `copyHome`. */
    initialHome: string | undefined;
    /** Whether the server's data may be in memory, which is quick, and has no room for the long tests. */
    dataInMemory: boolean;
  }
}

export type TestDatabase = {
  readonly connection: DatabaseConnection;
  readonly url: string;
  /** Ends what is still connected, and deletes the database. */
  drop(): Promise<void>;
};

/** A migrated database of the test file's own, with nothing in its tables. */
export function createTestDatabase(): Promise<TestDatabase> {
  return createDatabase(inject('testTemplate'));
}

/** A database without any table. */
export function createBareDatabase(): Promise<TestDatabase> {
  return createDatabase('template0');
}

async function createDatabase(template: string): Promise<TestDatabase> {
  const server = inject('testServerUrl');
  const name = `${inject('testTemplate')}_${randomBytes(6).toString('hex')}`;
  // Half the time of the usual strategy, which writes every page to the log.
  await runStatement(server, `CREATE DATABASE ${name} TEMPLATE ${template} STRATEGY file_copy`);
  const url = urlOfDatabase(server, name);
  const drop = () => dropDatabase(server, name);
  return { connection: { connectionString: url }, url, drop };
}
