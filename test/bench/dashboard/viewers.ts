import { once } from 'node:events';
import { get, type IncomingMessage } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { postgresSeconds, processSeconds } from '../dispatch/processor-time.ts';
import { type Bench, completedAt } from '../dispatch/rounds.ts';
import { planRun } from '../dispatch/volley.ts';
import { startServe } from './serve.ts';

export type Sent = {
  /** From the first request until the run is completed. */
  readonly seconds: number;
  /** Processor seconds while it was sent. */
  readonly serve: number;
  readonly postgres: number;
  /** To all viewers. */
  readonly bytes: number;
};

/** Sends a run while so many people follow its page. */
export async function measureViewers(bench: Bench, viewers: number): Promise<Sent> {
  const run = await planRun(bench.campaign, bench.workspace);
  await bench.service.begin();
  const serve = await startServe(bench);
  const before = { serve: processSeconds(serve.pid), postgres: postgresSeconds(bench.postmaster) };
  try {
    let bytes = 0;
    const count = (piece: Buffer): void => {
      bytes += piece.length;
    };
    const streams = await Promise.all(
      Array.from({ length: viewers }, async () => {
        const headers = { cookie: serve.visitor.cookies(), accept: 'text/event-stream' };
        const request = get(`${serve.url}/runs/${run}/live`, { headers, agent: false });
        const [answer]: IncomingMessage[] = await once(request, 'response');
        if (answer?.statusCode !== 200) throw new Error(`no stream: ${answer?.statusCode}`);
        answer.on('data', count).on('error', () => {});
        return request;
      }),
    );
    let ended = Number.NaN;
    while (Number.isNaN(ended)) {
      await sleep(200);
      ended = await completedAt(run, bench.workspace);
    }
    const used = {
      serve: processSeconds(serve.pid) - before.serve,
      postgres: postgresSeconds(bench.postmaster) - before.postgres,
    };
    const { firstAt } = await bench.service.received();
    for (const request of streams) request.destroy();
    return { seconds: (ended - (firstAt ?? Number.NaN)) / 1_000, ...used, bytes };
  } finally {
    await serve.stop();
  }
}
