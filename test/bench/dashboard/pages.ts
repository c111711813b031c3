import type { Bench } from '../dispatch/rounds.ts';
import { completedAt } from '../dispatch/rounds.ts';
import { planRun } from '../dispatch/volley.ts';
import { startServe } from './serve.ts';

export type MeasuredPage = {
  readonly path: string;
  readonly status: number;
  /** As sent, packed. */
  readonly bytes: number;
  /** Milliseconds. */
  readonly times: readonly number[];
};

const pathsOf = (run: string): readonly string[] => [
  '/',
  `/runs/${run}`,
  `/runs/${run}/recipients`,
  `/runs/${run}/recipients?state=waiting`,
  `/runs/${run}/recipients?state=not+accepted`,
  `/runs/${run}/doubts`,
  `/runs/${run}/recipients?state=left+out`,
  `/runs/${run}/plan`,
  `/runs/${run}/pause`,
  '/recipients',
  '/recipients?q=%2B61400000500',
  '/suppressions',
  '/delivery-reports',
  '/campaigns',
  '/accounts',
  '/billing',
  '/billing/months',
  `/billing/requests?from=&to=&run=${run}`,
  '/audit',
  '/tokens',
  '/health',
];

/** Asks for each page in turn, one at a time, until the run is completed. */
export async function measurePages(bench: Bench): Promise<readonly MeasuredPage[]> {
  const run = await planRun(bench.campaign, bench.workspace);
  await bench.service.begin();
  const serve = await startServe(bench);
  try {
    const pages = pathsOf(run).map((path) => ({ path, status: 0, bytes: 0, times: [] as number[] }));
    for (;;) {
      for (const page of pages) {
        const begun = performance.now();
        const { status, bytes } = await measurePage(`${serve.url}${page.path}`, serve.visitor.cookies());
        page.times.push(performance.now() - begun);
        Object.assign(page, { status, bytes });
      }
      if (!Number.isNaN(await completedAt(run, bench.workspace))) return pages;
    }
  } finally {
    await serve.stop();
  }
}

async function measurePage(url: string, cookie: string): Promise<Omit<MeasuredPage, 'path' | 'times'>> {
  const answer = await fetch(url, { headers: { cookie, 'accept-encoding': 'gzip' }, redirect: 'manual' });
  const bytes = Number(answer.headers.get('content-length') ?? Number.NaN);
  await answer.arrayBuffer();
  return { status: answer.status, bytes };
}
