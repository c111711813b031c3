import type { FastifyInstance } from 'fastify';
import { InputError } from '../../domain/problems.ts';
import { createLiveRuns, type LiveRun, type LiveRuns } from '../../engine/live/live-runs.ts';
import { requireLookUpOfRun } from '../../engine/runs/ask-about-doubts.ts';
import { createLookUpJobs, type LookUpJobs } from '../../engine/runs/look-up-jobs.ts';
import type { Settings } from '../../engine/settings.ts';
import { listFailureGroups } from '../../ledger/counts/groups.ts';
import { listDoubts } from '../../ledger/requests/list-doubts.ts';
import { html } from '../../report/html/html.ts';
import type { CallLimits } from '../../server/api/call-limits.ts';
import { numberIn, textIn } from '../base/fields.ts';
import { addPage } from '../base/pages.ts';
import type { Tools } from '../base/tools.ts';
import { askedOf, notFound, requireVisibleRun, type View, viewOf } from '../base/view.ts';
import { runPath } from '../paths.ts';
import { aboutPart } from './about-part.ts';
import { doubtsPart, doubtsPerPage, maxGroups } from './doubts-part.ts';
import { downloadsPart } from './downloads.ts';
import { addRunLists } from './lists.ts';
import { livePart } from './live-part.ts';
import { lookUpPart } from './look-up-part.ts';
import { addResolveAction } from './resolve-action.ts';
import { parseDownload, sendDownload } from './send-download.ts';

type RunPages = { readonly live: LiveRuns; readonly jobs: LookUpJobs; readonly settings: Settings };

export function addRunPages(server: FastifyInstance, tools: Tools): void {
  const { settings } = tools.scheduleSource;
  const live = createLiveRuns(tools.context, settings);
  const jobs = createLookUpJobs(settings);
  server.addHook('onClose', () => jobs.close());
  addRunPage(server, tools, live);
  addRunLists(server);
  addDoubts(server, { live, jobs, settings });
  addLookUps(server, tools, jobs);
  addResolveAction(server, jobs);
  addDownloads(server, tools.limits);
}

const allRuns = { href: '/', text: 'Runs' };
const ofRun = (run: string, text: string) => ({ href: runPath(run), text });

function addRunPage(server: FastifyInstance, { live: parts }: Tools, live: LiveRuns): void {
  addPage(server, { path: '/runs/:run', scope: 'read' }, async (view, { params }) => {
    const found = await readVisible(live, view, params['run'] ?? '');
    const { head } = found;
    return {
      title: `${head.campaign} (${head.run})`,
      within: allRuns,
      body: aboutPart(head, view),
      live: { body: livePart(found, view), from: runPath(head.run, 'live') },
      end: downloadsPart(head),
    };
  });
  parts.add(
    server,
    { path: '/runs/:run/live', scope: 'read' },
    {
      open: async (view, { params }) => {
        const { run } = await requireVisibleRun(view, params['run'] ?? '');
        return { key: `run ${run}`, read: async () => (await live.read(run)) ?? notFound(noRun) };
      },
      render: livePart,
    },
  );
}

const noRun = 'There is no such run any more.';

async function readVisible(live: LiveRuns, view: View, run: string): Promise<LiveRun> {
  await requireVisibleRun(view, run);
  return (await live.read(run)) ?? notFound(noRun);
}

function addDoubts(server: FastifyInstance, { live, jobs, settings }: RunPages): void {
  addPage(server, { path: '/runs/:run/doubts', scope: 'read' }, async (view, { params, query }) => {
    const { head, progress } = await readVisible(live, view, params['run'] ?? '');
    const { run, campaign } = head;
    const options = { after: numberIn(query, 'after'), pageSize: doubtsPerPage + 1 };
    const { pool } = view.context.ledger;
    const first = await listDoubts(pool, run, 'all', options).next();
    const groups = await listFailureGroups(pool, run, { states: ['in_doubt'], limit: maxGroups });
    const noLookUp = await whyNoLookUp(view, settings, run);
    const { in_doubt: total } = progress.counts.requests;
    const list = { run, total, groups, doubts: first.value ?? [], noLookUp };
    return {
      title: 'Requests in doubt',
      within: ofRun(run, campaign),
      body: html``,
      live: { body: lookUpPart({ run, job: jobs.of(run) }, view), from: runPath(run, 'doubts/live') },
      end: doubtsPart(list, view),
    };
  });
}

/** How far the service was asked; it is in memory, so a look costs nothing. */
function addLookUps(server: FastifyInstance, { live }: Tools, jobs: LookUpJobs): void {
  live.add(
    server,
    { path: '/runs/:run/doubts/live', scope: 'read' },
    {
      open: async (view, { params }) => {
        const { run } = await requireVisibleRun(view, params['run'] ?? '');
        return { key: `look-up ${run}`, read: async () => ({ run, job: jobs.of(run) }) };
      },
      render: lookUpPart,
    },
  );
}

async function whyNoLookUp({ context }: View, settings: Settings, run: string): Promise<string | undefined> {
  try {
    await requireLookUpOfRun(context, settings, run);
    return undefined;
  } catch (error) {
    if (error instanceof InputError) return error.problems.map(({ what }) => what).join(' ');
    return error instanceof Error ? error.message : String(error);
  }
}

function addDownloads(server: FastifyInstance, limits: CallLimits): void {
  server.get('/runs/:run/download/:report', async (request, reply) => {
    const view = viewOf(request);
    const { params, query } = askedOf(request);
    const { run } = await requireVisibleRun(view, params['run'] ?? '');
    const download = parseDownload({
      run,
      report: params['report'],
      format: textIn(query, 'format'),
      rejected: textIn(query, 'rejected'),
      zone: view.zone,
    });
    if (!download) return notFound('There is no such report of a run.');
    const limit = download.report === 'failures' ? limits.list : limits.report;
    await limit(reply, view.session.name, () => sendDownload(view.context, reply, download));
    return reply;
  });
}
