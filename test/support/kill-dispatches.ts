import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'vitest';
import type { DispatchScene } from './dispatch-scene.ts';
import { type SignalAtPoint, signalMessage } from './signal-points.ts';
import type { Started } from './volley.ts';

/** A process kills itself at a point, or the test kills it some milliseconds after an event. */
export type Kill =
  | ({ readonly kind: 'point' } & Omit<SignalAtPoint, 'signal'>)
  | { readonly kind: 'moment'; readonly after: 'start' | 'first request'; readonly milliseconds: number };

/** The process died between `from` and `to` (epoch milliseconds). */
export type Killed = { readonly what: string; readonly from: number; readonly to: number };

/** `after`: where the previous process was killed. */
export type TimeToFirstRequest = { readonly milliseconds: number; readonly after: string };

export type KilledRun = {
  readonly run: string;
  readonly kills: readonly Killed[];
  /** For each `volley resume` that sent a request. */
  readonly timesToFirstRequest: readonly TimeToFirstRequest[];
};

/**
 * Plans a run, and repeatedly starts and kills `volley resume` until all kills are done or the run has
 * completed. The last process is left to finish.
 *
 * @param kills skipped if the process does not reach the point
 * @param workerKills if any, `volley worker` is started and killed alongside
 */
export async function killDispatches(
  scene: DispatchScene,
  kills: readonly Kill[],
  workerKills: readonly Kill[] = [],
): Promise<KilledRun> {
  const run = await scene.plan();
  const killedRun: RunProgress = { run, kills: [], timesToFirstRequest: [] };
  const resumed = new AbortController();
  const resuming = resumeAndKill(scene, killedRun, kills).finally(() => resumed.abort());
  const working = workerKills.length > 0 && workAndKill(scene, killedRun, workerKills, resumed.signal);
  await Promise.all([resuming, working]);
  return killedRun;
}

type RunProgress = {
  readonly run: string;
  readonly kills: Killed[];
  readonly timesToFirstRequest: TimeToFirstRequest[];
};

async function resumeAndKill(scene: DispatchScene, progress: RunProgress, kills: readonly Kill[]) {
  for (const kill of [...kills, undefined]) {
    const words = ['resume', progress.run];
    const { end, sentAfter } = await startAndKill(scene, words, kill);
    if (sentAfter !== undefined) {
      progress.timesToFirstRequest.push({
        milliseconds: Math.round(sentAfter),
        after: progress.kills.at(-1)?.what ?? '',
      });
    }
    if (end.kind === 'killed') progress.kills.push(end.killed);
    else expect([0, 3], end.stderr).toContain(end.code);
    if (await isCompleted(scene, progress.run)) return;
  }
  expect.fail('the last process ended, but the run has not completed');
}

/** Unlike `resume`, a worker does not end by itself. */
async function workAndKill(
  scene: DispatchScene,
  progress: RunProgress,
  kills: readonly Kill[],
  resumed: AbortSignal,
) {
  for (const kill of [...kills, undefined]) {
    const { end } = await startAndKill(scene, ['worker'], kill, resumed);
    if (end.kind === 'killed') progress.kills.push(end.killed);
    if (resumed.aborted) return;
    if (end.kind === 'ended') expect.fail(`the worker ended by itself: ${end.stderr}`);
  }
}

type End =
  | { readonly kind: 'killed'; readonly killed: Killed }
  | { readonly kind: 'ended'; readonly code: number | null; readonly stderr: string };

async function startAndKill(
  scene: DispatchScene,
  args: readonly string[],
  planned: Kill | undefined,
  stopSignal?: AbortSignal,
): Promise<{ readonly end: End; readonly sentAfter: number | undefined }> {
  const sent = scene.peer.nextRequest();
  const startedAt = performance.now();
  const started = scene.start(
    args,
    planned?.kind === 'point' ? { ...planned, signal: 'SIGKILL' } : undefined,
  );
  let sentAt: number | undefined;
  const exited = new AbortController();
  const ended = started.ended.finally(() => exited.abort());
  const sending = sent.then((at) => {
    if (!exited.signal.aborted) sentAt = at;
  });
  const stop = () => started.process.kill('SIGTERM');
  if (stopSignal?.aborted) stop();
  stopSignal?.addEventListener('abort', stop, { once: true });
  let killed: Killed | undefined;
  if (planned?.kind === 'moment') {
    if (planned.after === 'first request') await Promise.race([sending, ended]);
    await sleep(planned.milliseconds, undefined, { signal: exited.signal }).catch(() => undefined);
    killed = await kill(started, 'a moment');
  }
  const { code, stderr } = await ended;
  stopSignal?.removeEventListener('abort', stop);
  const sentAfter = sentAt === undefined ? undefined : sentAt - startedAt;
  if (started.process.signalCode !== 'SIGKILL') return { end: { kind: 'ended', code, stderr }, sentAfter };
  return {
    end: { kind: 'killed', killed: killed ?? killedAtPoint(stderr) },
    sentAfter,
  };
}

async function kill(started: Started, what: string): Promise<Killed> {
  const from = Date.now();
  started.process.kill('SIGKILL');
  await started.ended;
  return { what, from, to: Date.now() };
}

function killedAtPoint(stderr: string): Killed {
  const [, time, point] = new RegExp(`^${signalMessage} (\\d+) (.+)$`, 'm').exec(stderr) ?? [];
  return { what: point ?? expect.fail(stderr), from: Number(time), to: Date.now() };
}

async function isCompleted({ ledger }: DispatchScene, run: string): Promise<boolean> {
  const sql = `SELECT FROM runs WHERE run_id = $1 AND state = 'completed'`;
  return (await ledger.ledger.pool.query(sql, [run])).rowCount === 1;
}
