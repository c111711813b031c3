import type { Command } from 'commander';
import { connectLedger, migrateLedger } from '../../ledger/connection.ts';
import { leaseDatabase, volleyHome } from '../../platform/database.ts';
import { embeddedServerStatus, stopEmbeddedServer } from '../../platform/embedded-postgres.ts';
import { type Shell, withLedger } from '../shell.ts';

export function define(command: Command, shell: Shell): void {
  const { environment, workingFolder } = shell.settings;
  command.description('The database: DATABASE_URL, or the embedded server.');
  command
    .command('migrate')
    .description('Brings the tables up to date. Every command that needs them does so by itself.')
    .action(async () => {
      const lease = await leaseDatabase(environment, workingFolder);
      const knex = connectLedger(lease.connection);
      try {
        const names = await migrateLedger(knex);
        shell.print(
          names.length === 0
            ? `${lease.description}: up to date.`
            : `${lease.description}: ${names.join(', ')}`,
        );
      } finally {
        await knex.destroy();
        await lease.release();
      }
    });
  command
    .command('status')
    .description('Says which database is used and whether it answers.')
    .option('--json', 'print the status as JSON')
    .action(async ({ json }: { json?: true }) => {
      if (environment['DATABASE_URL']) {
        const version = await withLedger(shell, async ({ ledger }) => {
          const { rows } = await ledger.pool.query<{ version: string }>('SHOW server_version AS version');
          return rows[0]?.version ?? 'unknown';
        });
        shell.print(
          json ? JSON.stringify({ kind: 'external', version }) : `DATABASE_URL: Postgres ${version} answers.`,
        );
        return;
      }
      const status = await embeddedServerStatus(volleyHome(environment, workingFolder));
      shell.print(
        json
          ? JSON.stringify(status)
          : Object.entries(status)
              .map(([name, value]) => `${name}: ${value}`)
              .join('\n'),
      );
    });
  command
    .command('stop')
    .description('Stops the embedded server, if a killed command left it running.')
    .action(async () => {
      await stopEmbeddedServer(volleyHome(environment, workingFolder));
      shell.print('The embedded server is stopped.');
    });
}
