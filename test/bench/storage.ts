import { makeWorkspace } from '../support/workspace.ts';
import { startService } from './dispatch/start-service.ts';
import { grouped, printTable } from './printing.ts';
import { createDatabase, startServer } from './servers.ts';
import type { Size } from './storage/read-size.ts';
import { vacuumOften } from './storage/read-size.ts';
import { measureStages, type Stage } from './storage/stages.ts';

/** Recipients of a request. */
const chunks = [1, 200];

/** Bytes for each recipient, by stage. */
const aims: Readonly<Record<string, number>> = { folded: 300, 'reports dropped': 130, purged: 40 };

/** Bytes of WAL for each byte that is kept once all reports are in. */
const walAim = 3;

/**
 * Prints the bytes of each table for a recipient, from a plan to the deletion of its records: in requests of one and of
 * 200 recipients, each in a Postgres of its own with its default settings. The service answers as the sandbox does, and
 * reports every recipient as the sandbox does, over HTTP.
 *
 * @param words the number of recipients (1,000,000)
 */
export async function benchStorage([recipients = '1000000']: readonly string[]): Promise<void> {
  for (const chunk of chunks) {
    const workload = { requests: Math.ceil(Number(recipients) / chunk), recipients: chunk };
    await using server = await startServer();
    await using service = await startService();
    await using workspace = await makeWorkspace();
    await vacuumOften(server.superuserUrl);
    const { folder } = workspace;
    const databaseUrl = await createDatabase(server, 'storage');
    const { dataFolder } = server;
    const stages = await measureStages({ workload, workspace: { folder, databaseUrl }, service, dataFolder });
    printStages(chunk, workload.requests * chunk, stages);
  }
}

function printStages(chunk: number, recipients: number, [empty, ...stages]: readonly Stage[]): void {
  if (empty === undefined) return;
  const before = empty.size;
  const bytes = (size: Size, table: string): number =>
    ((size.tables.get(table) ?? 0) - (before.tables.get(table) ?? 0)) / recipients;
  const tables = [...new Set(stages.flatMap(({ size }) => [...size.tables.keys()]))];
  const peak = (table: string): number => Math.max(...stages.map(({ size }) => bytes(size, table)));
  const large = tables.filter((table) => peak(table) >= 1).sort((one, other) => peak(other) - peak(one));
  const small = tables.filter((table) => peak(table) < 1);
  const sum = (size: Size, of: readonly string[]): number =>
    of.reduce((all, table) => all + bytes(size, table), 0);
  const row = (name: string, figure: (size: Size, index: number) => string): string[] => [
    name,
    ...stages.map(({ size }, index) => figure(size, index)),
  ];
  const walOf = ({ wal }: Size): number => (wal - before.wal) / recipients;
  const walBefore = (index: number): number => walOf(stages[index - 1]?.size ?? before);
  const megabytes = (amount: number): string => (amount / 1e6).toFixed(1);
  printTable(
    `storage: ${grouped(recipients)} recipients in requests of ${chunk}; bytes a recipient, with indexes and TOAST, without what an empty ledger has`,
    ['', ...stages.map(({ name }) => name)],
    [
      ...large.map((table) => row(table, (size) => bytes(size, table).toFixed(1))),
      row(`${small.length} others, each below 1`, (size) => sum(size, small).toFixed(1)),
      row('all tables', (size) => sum(size, tables).toFixed(1)),
      ['aim', ...stages.map(({ name }) => (aims[name] === undefined ? '' : `≤ ${aims[name]}`))],
      row('all tables, MB', (size) => megabytes(sum(size, tables) * recipients)),
      row('data folder without WAL, MB', ({ disk }) => megabytes(disk - before.disk)),
      row('WAL of the stage', (size, index) => (walOf(size) - walBefore(index)).toFixed(0)),
      row(`WAL so far, of what is kept (aim when folded: ≤ ${walAim})`, (size) =>
        (walOf(size) / sum(size, tables)).toFixed(1),
      ),
      row('dead rows', ({ deadRows }) => grouped(deadRows)),
      row('rounds of autovacuum so far', ({ vacuums }) => grouped(vacuums - before.vacuums)),
      row('seconds of autovacuum so far', ({ vacuumSeconds }) => vacuumSeconds?.toFixed(1) ?? 'unknown'),
    ],
  );
}
