import { randomBytes } from 'node:crypto';
import { inject } from 'vitest';
import type { DatabaseConnection } from '../../src/platform/database.ts';
import { dropDatabase, runStatement, urlOfDatabase } from './statement.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** With a login that can create databases. */
    testServerUrl: string;
    /** Test databases are cloned from it; their names begin with its name. */
    testTemplate: string;
    /** For `copyHome`. */
    initialHome: string | undefined;
    /** Fast, but too small for the long tests. */
    filesInMemory: boolean;
  }
}

export type TestDatabase = {
  readonly connection: DatabaseConnection;
  readonly url: string;
  /** Ends remaining connections first. */
  drop(): Promise<void>;
};

/** Migrated and empty, for one test file. */
export function createTestDatabase(): Promise<TestDatabase> {
  return createDatabase(inject('testTemplate'));
}

export function createBareDatabase(): Promise<TestDatabase> {
  return createDatabase('template0');
}

/** With its content. Nothing may be connected to it. */
export function cloneDatabase({ url }: TestDatabase): Promise<TestDatabase> {
  return createDatabase(new URL(url).pathname.slice(1));
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
