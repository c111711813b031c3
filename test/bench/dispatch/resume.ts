import { execFile } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { startVolley } from '../../support/volley.ts';
import { timed } from '../rounds.ts';
import type { Bench } from './rounds.ts';
import { planRun, startResume } from './volley.ts';

/** Milliseconds, one for each round. */
export type Resumes = {
  readonly node: readonly number[];
  readonly version: readonly number[];
  /** From the start of `volley resume` to its first request. */
  readonly firstRequest: readonly number[];
};

/** Kills a run at 40, 50 and 60 % of its requests, and resumes it each time. */
export async function measureResumes(bench: Bench): Promise<Resumes> {
  const { workload, workspace, service } = bench;
  const resumes = { node: [] as number[], version: [] as number[], firstRequest: [] as number[] };
  const run = await planRun(bench.campaign, workspace);
  let sent = 0;
  for (const part of [0.4, 0.5, 0.6, 1]) {
    await service.begin();
    const begun = Date.now();
    const volley = startResume(run, workspace);
    const received = await waitForRequests(
      bench,
      Math.max(1, Math.floor(workload.requests * part) - sent),
      volley.ended,
    );
    if (part < 1) volley.process.kill('SIGKILL');
    const { stderr } = await volley.ended;
    if (received.firstAt === null)
      throw new Error(`nothing left to send: BENCH_REQUESTS is too small: ${stderr}`);
    if (sent > 0) resumes.firstRequest.push(received.firstAt - begun);
    sent += (await service.received()).requests;
    resumes.node.push(await timed(() => promisify(execFile)(process.execPath, ['-e', '0'])));
    resumes.version.push(await timed(() => startVolley(['--version']).ended));
  }
  return resumes;
}

async function waitForRequests({ service }: Bench, count: number, ended: Promise<unknown>) {
  let over = false;
  void ended.then(() => {
    over = true;
  });
  for (;;) {
    const received = await service.received();
    if (received.requests >= count || over) return received;
    await sleep(2);
  }
}
