import { once } from 'node:events';
import { type ClientRequest, get, type IncomingMessage } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { postgresSeconds, processSeconds } from '../dispatch/processor-time.ts';
import { type Bench, completedAt } from '../dispatch/rounds.ts';
import { planRun } from '../dispatch/volley.ts';
import { type Serve, startServe } from './serve.ts';

/** Some seconds of a run, with or without viewers. */
export type Window = {
  readonly isWatched: boolean;
  /** Requests that the service received, in a second. */
  readonly rate: number;
  /** Microseconds of processor time for a request. */
  readonly serve: number;
  readonly postgres: number;
};

export type Watched = {
  readonly windows: readonly Window[];
  /** To all viewers. */
  readonly bytes: number;
};

/** Long enough for figures that are read every few seconds; short enough that the machine stays as fast as it was. */
const windowMilliseconds = 8_000;
/** Streams open and close in it, so it is not measured. */
const changeMilliseconds = 500;

/** Sends one run, whose page so many people follow in every second window. */
export async function measureViewers(bench: Bench, viewers: number): Promise<Watched> {
  const run = await planRun(bench.campaign, bench.workspace);
  await bench.service.begin();
  const serve = await startServe(bench);
  let bytes = 0;
  const count = (piece: Buffer): void => {
    bytes += piece.length;
  };
  try {
    const windows: Window[] = [];
    for (let isWatched = false; ; isWatched = !isWatched) {
      const streams = await openStreams(serve, run, isWatched ? viewers : 0, count);
      await sleep(changeMilliseconds);
      const before = await readUse(bench, serve);
      await sleep(windowMilliseconds);
      const after = await readUse(bench, serve);
      for (const stream of streams) stream.destroy();
      if (!Number.isNaN(await completedAt(run, bench.workspace))) return { windows, bytes };
      windows.push({ isWatched, ...useBetween(before, after) });
    }
  } finally {
    await serve.stop();
  }
}

async function openStreams(
  { url, visitor }: Serve,
  run: string,
  viewers: number,
  onData: (piece: Buffer) => void,
): Promise<readonly ClientRequest[]> {
  const open = async (): Promise<ClientRequest> => {
    const headers = { cookie: visitor.cookies(), accept: 'text/event-stream' };
    const request = get(`${url}/runs/${run}/live`, { headers, agent: false });
    const [answer]: IncomingMessage[] = await once(request, 'response');
    if (answer?.statusCode !== 200) throw new Error(`no stream: ${answer?.statusCode}`);
    answer.on('data', onData).on('error', () => {});
    return request;
  };
  return Promise.all(Array.from({ length: viewers }, open));
}

type Use = {
  readonly at: number;
  readonly requests: number;
  readonly serve: number;
  readonly postgres: number;
};

async function readUse({ service, postmaster }: Bench, { pid }: Serve): Promise<Use> {
  const { requests } = await service.received();
  return {
    at: performance.now(),
    requests,
    serve: processSeconds(pid),
    postgres: postgresSeconds(postmaster),
  };
}

function useBetween(before: Use, after: Use): Omit<Window, 'isWatched'> {
  const requests = after.requests - before.requests;
  return {
    rate: (requests / (after.at - before.at)) * 1_000,
    serve: ((after.serve - before.serve) / requests) * 1e6,
    postgres: ((after.postgres - before.postgres) / requests) * 1e6,
  };
}

/**
 * Compares each watched window with the mean of the windows before and after it, because the machine and the run
 * change slowly.
 */
export function compareWindows(windows: readonly Window[], figure: (window: Window) => number): number[] {
  return windows.flatMap((window, index) => {
    const [before, after] = [windows[index - 1], windows[index + 1]];
    if (!window.isWatched || !before || !after) return [];
    return [(2 * figure(window)) / (figure(before) + figure(after))];
  });
}
