import { execFile } from 'node:child_process';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import pg from 'pg';
import { z } from 'zod';
import type { Received, Service } from './start-service.ts';
import { type Place, planRun, startResume } from './volley.ts';
import type { Workload } from './workload.ts';

/** Seconds that each took, and the peak of Volley's process in bytes. */
export type Round = {
  readonly bare: number;
  readonly inserting: number;
  readonly boss: number;
  /** From its first request to its end. */
  readonly volley: number;
  /** From the start of its process to its end. */
  readonly volleyWhole: number;
  readonly peakBytes: number;
};

export type Bench = {
  readonly workload: Workload;
  /** Of all bodies of the workload. */
  readonly bodyBytes: number;
  readonly campaign: string;
  readonly place: Place;
  readonly service: Service;
};

/** Every peer once, one after the other; each must have sent the same bytes. */
export async function measureRound(bench: Bench): Promise<Round> {
  const bare = await runPeer('bare', bench);
  const inserting = await runPeer('inserting', bench);
  const boss = await runPeer('boss', bench);
  return { bare, inserting, boss, ...(await runVolley(bench)) };
}

const outcome = z.object({ seconds: z.number() });
const peerScript = fileURLToPath(new URL('./peer.ts', import.meta.url));

async function runPeer(kind: 'bare' | 'inserting' | 'boss', bench: Bench): Promise<number> {
  const { workload, place, service } = bench;
  await prepareTurn(bench);
  const words = [kind, service.url, workload.requests, workload.recipients, place.databaseUrl].map(String);
  const { stdout } = await promisify(execFile)(process.execPath, [peerScript, ...words]);
  await requireAllReceived(bench, kind);
  return outcome.parse(JSON.parse(stdout)).seconds;
}

const tellPeak = fileURLToPath(new URL('./tell-peak.ts', import.meta.url));

async function runVolley(bench: Bench): Promise<Pick<Round, 'volley' | 'volleyWhole' | 'peakBytes'>> {
  const run = await planRun(bench.campaign, bench.place);
  await prepareTurn(bench);
  const begun = Date.now();
  const { code, stderr } = await startResume(run, bench.place, ['--import', pathToFileURL(tellPeak).href])
    .ended;
  const ended = Date.now();
  if (code !== 0) throw new Error(`volley ended with ${code}: ${stderr}`);
  const { firstAt } = await requireAllReceived(bench, 'volley');
  return {
    volley: (ended - (firstAt ?? Number.NaN)) / 1000,
    volleyWhole: (ended - begun) / 1000,
    peakBytes: Number(/^peak (\d+)$/m.exec(stderr)?.[1]),
  };
}

/** What an earlier peer left for the next checkpoint is written before this one's turn. */
async function prepareTurn({ place, service }: Bench): Promise<void> {
  const client = new pg.Client({ connectionString: place.databaseUrl });
  await client.connect();
  await client.query('CHECKPOINT');
  await client.end();
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
