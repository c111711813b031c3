import type { Command } from 'commander';
import { InputError } from '../../domain/problems.ts';
import { connectLedger, migrateLedger, serverVersion } from '../../ledger/connection.ts';
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
    .description('Says which database is used, and whether it runs.')
    .option('--json', 'print the status as JSON')
    .action(async ({ json }: { json?: true }) => {
      const status = environment['DATABASE_URL'] ? await externalStatus(shell) : embeddedStatus(shell);
      shell.print(json ? JSON.stringify(status) : statusText(status));
    });
  command
    .command('stop')
    .description('Stops the embedded server, if a killed command left it running.')
    .action(async () => {
      const stopped = await stopEmbeddedServer(volleyHome(environment, workingFolder));
      if (stopped.outcome === 'in-use') {
        const what = `It is in use by process ${stopped.leases.join(', ')}; stop that first.`;
        throw new InputError([{ where: 'embedded Postgres', what }]);
      }
      const done = stopped.outcome === 'stopped' ? 'is stopped' : 'was not running';
      shell.print(`The embedded server ${done}.`);
    });
}

type DatabaseStatus = Readonly<Record<string, unknown>>;

function externalStatus(shell: Shell): Promise<DatabaseStatus> {
  return withLedger(shell, async ({ ledger }) => {
    return { database: 'DATABASE_URL', state: 'running', version: await serverVersion(ledger) };
  });
}

function embeddedStatus({ settings }: Shell): DatabaseStatus {
  const status = embeddedServerStatus(volleyHome(settings.environment, settings.workingFolder));
  return { database: 'embedded', ...status };
}

function statusText(status: DatabaseStatus): string {
  return Object.entries(status)
    .map(([name, value]) => `${name}: ${value}`)
    .join('\n');
}
