import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { z } from 'zod';
import { runStatement } from '../../support/statement.ts';
import { type ProcessorTime, postgresSeconds } from './processor-time.ts';
import type { Received, Service } from './start-service.ts';
import { type BenchWorkspace, planRun, startResume } from './volley.ts';
import type { Workload } from './workload.ts';

export type Cost = { readonly seconds: number; readonly processor: ProcessorTime };

export type Round = {
  readonly bare: Cost;
  /** With undici's `dispatch` instead of `request`. */
  readonly dispatching: Cost;
  readonly inserting: Cost;
  readonly boss: Cost;
  /** Each writes the body from the recipients, as Volley does. */
  readonly written: { readonly inserting: Cost; readonly boss: Cost };
  /**
   * `seconds` from the first request until the run is completed. `processor` includes the start and end of the
   * process.
   */
  readonly volley: Cost & {
    /** From start to end of the process. */
    readonly wholeSeconds: number;
    /** Resident memory. */
    readonly peakBytes: number;
  };
};

export type Bench = {
  readonly workload: Workload;
  readonly bodyBytes: number;
  readonly campaign: string;
  readonly workspace: BenchWorkspace;
  readonly service: Service;
  /** Process id of the Postgres server. */
  readonly postmaster: number;
};

/** Runs every peer once. Each must have sent the same bytes. */
export async function measureRound(bench: Bench): Promise<Round> {
  const bare = await runPeer('bare', 'ready', bench);
  const dispatching = await runPeer('dispatching', 'ready', bench);
  const inserting = await runPeer('inserting', 'ready', bench);
  const boss = await runPeer('boss', 'ready', bench);
  const written = {
    inserting: await runPeer('inserting', 'written', bench),
    boss: await runPeer('boss', 'written', bench),
  };
  return { bare, dispatching, inserting, boss, written, volley: await runVolley(bench) };
}

const outcome = z.object({ seconds: z.number(), own: z.number(), postgres: z.number().nullable() });
const peerScript = fileURLToPath(new URL('./peer.ts', import.meta.url));

/** @param bodies `ready` before the measurement, or `written` during it */
export async function runPeer(
  kind: 'bare' | 'dispatching' | 'inserting' | 'boss',
  bodies: 'ready' | 'written',
  bench: Bench,
): Promise<Cost> {
  const { workload, workspace, service, postmaster } = bench;
  await preparePeer(bench);
  const words = [
    kind,
    bodies,
    service.url,
    workload.requests,
    workload.recipients,
    workspace.databaseUrl,
    postmaster,
  ].map(String);
  const { stdout } = await promisify(execFile)(process.execPath, [peerScript, ...words]);
  const { cpuSeconds } = await requireAllReceived(bench, kind);
  const { seconds, own, postgres } = outcome.parse(JSON.parse(stdout));
  return { seconds, processor: { own, postgres: postgres ?? Number.NaN, service: cpuSeconds } };
}

/** Flags of Node for a command whose cost `costIn` reads. */
export const printCost = ['--import', new URL('./print-cost.ts', import.meta.url).href];

/** @param stderr of a command that ended */
export function costIn(stderr: string): { readonly peakBytes: number; readonly own: number } {
  const [peakBytes = Number.NaN, cpu = Number.NaN] =
    /^peak (\d+) cpu (\d+)$/m.exec(stderr)?.slice(1).map(Number) ?? [];
  return { peakBytes, own: cpu / 1e6 };
}

/** Plans a run and sends it with `volley resume`. */
export async function runVolley(bench: Bench): Promise<Round['volley']> {
  const run = await planRun(bench.campaign, bench.workspace);
  const cost = await measureResume(run, bench);
  await requireAllReceived(bench, 'volley');
  return cost;
}

/** Sends what is left of a run, with `volley resume`. */
export async function measureResume(run: string, bench: Bench): Promise<Round['volley']> {
  await preparePeer(bench);
  const postgresBefore = postgresSeconds(bench.postmaster);
  const begun = Date.now();
  const { code, stderr } = await startResume(run, bench.workspace, printCost).ended;
  const ended = Date.now();
  const postgres = postgresSeconds(bench.postmaster) - postgresBefore;
  if (code !== 0) throw new Error(`volley ended with ${code}: ${stderr}`);
  const { firstAt, cpuSeconds } = await bench.service.received();
  const { peakBytes, own } = costIn(stderr);
  return {
    seconds: ((await completedAt(run, bench.workspace)) - (firstAt ?? Number.NaN)) / 1000,
    wholeSeconds: (ended - begun) / 1000,
    processor: { own, postgres, service: cpuSeconds },
    peakBytes,
  };
}

/** Epoch milliseconds; NaN before. */
export async function completedAt(run: string, { databaseUrl }: BenchWorkspace): Promise<number> {
  const [row] = await runStatement(
    databaseUrl,
    "SELECT 1000 * extract(epoch FROM changed_at) AS at FROM run_states WHERE run_id = $1 AND state = 'completed'",
    [run],
  );
  return Number(row?.['at']);
}

/** A checkpoint writes what the previous peer left in memory. */
async function preparePeer({ workspace, service }: Bench): Promise<void> {
  await runStatement(workspace.databaseUrl, 'CHECKPOINT');
  await service.begin();
}

async function requireAllReceived({ workload, bodyBytes, service }: Bench, peer: string): Promise<Received> {
  const received = await service.received();
  if (received.requests !== workload.requests || received.bodyBytes !== bodyBytes) {
    const what = `${received.requests} requests with ${received.bodyBytes} bytes`;
    throw new Error(`${peer} sent ${what}, not ${workload.requests} with ${bodyBytes}`);
  }
  return received;
}
