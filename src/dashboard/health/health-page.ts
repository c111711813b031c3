import { type Check, type CheckState, checkStates } from '../../domain/doctor.ts';
import { isForAccount } from '../../engine/access/tokens.ts';
import type { HealthChecks } from '../../engine/doctor/diagnose.ts';
import { checkDatabase } from '../../engine/reporting/fleet-state.ts';
import { type ListedWorker, listWorkers } from '../../ledger/operations/workers.ts';
import {
  type Columns,
  cellColumn,
  integerColumn,
  stateColumn,
  textColumn,
  timeColumn,
} from '../../report/column.ts';
import { badge, time } from '../../report/html/cells.ts';
import { type Html, html } from '../../report/html/html.ts';
import { runColumn } from '../../report/lists/usual.ts';
import type { Tools } from '../base/tools.ts';
import type { Viewer } from '../base/view.ts';
import { listTable } from '../parts/list.ts';
import { nextStepPart, withCode } from '../parts/next-step.ts';
import { section } from '../parts/parts.ts';

const maxWorkers = 500;

/** Which workers are alive, what each holds, and what `volley doctor` finds in the ledger. */
export function addHealthPage(tools: Tools): void {
  tools.addLivePage({
    path: '/health',
    scope: 'read',
    open: async ({ session: { accounts } }) => ({
      key: JSON.stringify(['health', accounts]),
      read: () => readHealth(tools, accounts),
    }),
    render: healthPart,
    around: () => ({
      title: 'Health',
      body: html`<p>What the ledger knows of its processes. <code>volley doctor</code> also checks accounts, the service and the receiver from the machine where it runs.</p>`,
    }),
  });
}

type Health = Awaited<ReturnType<typeof readHealth>>;

async function readHealth({ context, healthChecks }: Tools, accounts: readonly string[] | null) {
  const workers = await listWorkers(context.ledger.monitoring, maxWorkers);
  return {
    // What a worker holds of other accounts is counted, and not named.
    workers: workers.map((one) =>
      one.account === null || isForAccount({ accounts }, one.account) ? one : { ...one, run: null },
    ),
    database: await checkDatabase(context),
    fleet: accounts === null ? await healthChecks.read() : undefined,
  };
}

function healthPart({ workers, database, fleet }: Health, viewer: Viewer): Html {
  return html`${readyPart(database, viewer)}
${fleet && checksPart(fleet, viewer)}
${workersPart(workers, viewer)}`;
}

function readyPart({ problem, warnings }: Health['database'], viewer: Viewer): Html {
  if (problem !== undefined)
    return html`<p class="banner" role="alert">${badge('problem')} <code>/readyz</code> answers 503: the database is ${problem}.</p>`;
  return html`<p id="ready">${badge('ready')} <code>/readyz</code> answers 200: the database answers, and has the tables of this version.</p>
${warnings.map((warning) => html`<p class="banner">${badge('warning')} ${nextStepPart(warning, viewer)}</p>`)}`;
}

function checksPart({ at, checks }: HealthChecks, viewer: Viewer): Html {
  const worst = (state: CheckState): number => -checkStates.indexOf(state);
  const sorted = checks.toSorted((one, other) => worst(one.state) - worst(other.state));
  const table = listTable(
    { caption: 'The worst first', columns: checkColumns(viewer), rows: sorted, id: 'checks' },
    viewer,
  );
  const when = html`<p class="hint">Checked at ${time(at, viewer.zone)} (${viewer.zone}).</p>`;
  return section('checks-part', 'Checks', [when, table]);
}

function checkColumns(viewer: Viewer): Columns<Check> {
  return [
    textColumn('name', 'Check'),
    stateColumn('state', 'State'),
    cellColumn('Found', ({ found }) => withCode(found)),
    cellColumn('Next', ({ nextStep }) => nextStep !== null && nextStepPart(nextStep, viewer)),
  ];
}

function workersPart(workers: readonly ListedWorker[], viewer: Viewer): Html {
  const alive = new Set(workers.flatMap(({ session }) => session ?? [])).size;
  const list = {
    caption: 'Workers, and what each holds',
    columns: workerColumns,
    rows: workers,
    id: 'workers',
  };
  const none = html`<p class="empty">No worker is alive, so nothing is sent. Start one with <code>volley serve</code> or <code>volley worker</code>.</p>`;
  return section('workers-part', `Workers: ${alive}`, workers.length === 0 ? none : listTable(list, viewer));
}

const workerColumns: Columns<ListedWorker> = [
  cellColumn('Machine and process', processCell),
  textColumn('address', 'From', ({ session, address }) =>
    session === null ? null : (address ?? 'a local socket'),
  ),
  timeColumn('since', 'Since'),
  {
    ...runColumn,
    shown: ({ run, account }) => run ?? (account === null ? 'none now' : 'of another account'),
  },
  integerColumn('slices', 'Slices'),
  timeColumn('claimedAt', 'Last claim'),
];

function processCell({ session, process }: ListedWorker): Html {
  if (session === null) return html`${badge('warning')} has ended; another worker gets its slices in seconds`;
  return html`<bdi>${process ?? ''}</bdi> <small>session ${session}</small>`;
}
