import type { FastifyInstance } from 'fastify';
import { type Check, type CheckState, checkStates } from '../../domain/doctor.ts';
import { isForAccount } from '../../engine/access/tokens.ts';
import { createHealthChecks } from '../../engine/doctor/diagnose.ts';
import {
  checkDatabase,
  type DatabaseState,
  type FleetFigures,
  readFleetFigures,
} from '../../engine/reporting/fleet-state.ts';
import { type ListedWorker, listWorkers } from '../../ledger/operations/workers.ts';
import { count } from '../../platform/sentence.ts';
import {
  type Columns,
  cellColumn,
  integerColumn,
  stateColumn,
  textColumn,
  timeColumn,
} from '../../report/column.ts';
import { badge, time } from '../../report/html/cells.ts';
import { groupThousands } from '../../report/html/figures.ts';
import { type Html, html } from '../../report/html/html.ts';
import { runColumn } from '../../report/lists/usual.ts';
import type { Tools } from '../base/tools.ts';
import type { Viewer } from '../base/view.ts';
import { listTable } from '../parts/list.ts';
import { figures, section, withCode } from '../parts/parts.ts';

const maxWorkers = 500;

/** Which workers are alive, what each holds, and what `volley doctor` finds in the ledger. */
export function addHealthPage(server: FastifyInstance, { context, live, campaignSource }: Tools): void {
  const { settings, folder } = campaignSource;
  const readChecks = createHealthChecks(context, settings, folder);
  const readFleet = async (): Promise<Checked> => ({
    ...(await readChecks()),
    figures: await readFleetFigures(context).catch(() => undefined),
  });
  const read = async (accounts: readonly string[] | null): Promise<Health> => {
    const workers = await listWorkers(context.ledger.monitoring, maxWorkers);
    return {
      // What a worker holds of other accounts is counted, and not named.
      workers: workers.map((one) =>
        one.account === null || isForAccount({ accounts }, one.account) ? one : { ...one, run: null },
      ),
      database: await checkDatabase(context),
      fleet: accounts === null ? await readFleet() : undefined,
    };
  };
  live.addPage(server, {
    path: '/health',
    scope: 'read',
    open: async ({ session: { accounts } }) => ({
      key: JSON.stringify(['health', accounts]),
      read: () => read(accounts),
    }),
    render: healthPart,
    around: () => ({
      title: 'Health',
      body: html`<p>What the ledger knows of its processes. <code>volley doctor</code> also checks accounts, the service and the receiver from the machine where it runs.</p>`,
    }),
  });
}

/** What `volley doctor` finds in the ledger of all accounts. */
type Checked = {
  /** The time at which the checks began. */
  readonly at: Date;
  readonly checks: readonly Check[];
  readonly figures: FleetFigures | undefined;
};

/** The processes that share the ledger. */
type Health = {
  readonly workers: readonly ListedWorker[];
  /** What `/readyz` answers. */
  readonly database: DatabaseState;
  /** What concerns all accounts; undefined for persons who see some only. */
  readonly fleet: Checked | undefined;
};

function healthPart({ workers, database, fleet }: Health, viewer: Viewer): Html {
  const alive = new Set(workers.flatMap(({ session }) => session ?? [])).size;
  return html`${readyPart(database)}
${fleet && checkSummary(fleet.checks)}
${fleet?.figures && figuresPart(fleet.figures, alive, viewer)}
${workersPart(workers, alive, viewer)}
${fleet && checksPart(fleet, viewer)}`;
}

function readyPart({ problem, warnings }: Health['database']): Html {
  if (problem !== undefined)
    return html`<p class="banner" role="alert">${badge('problem')} <code>/readyz</code> answers 503: the database is ${problem}.</p>`;
  return html`<p id="ready">${badge('ready')} <code>/readyz</code> answers 200: the database answers, and has the tables of this version.</p>
${warnings.map((warning) => html`<p class="banner">${badge('warning')} ${warning}</p>`)}`;
}

function checkSummary(checks: readonly Check[]): Html {
  const wrong = checks.filter(({ state }) => state === 'problem' || state === 'warning');
  return html`<p role="status" id="check-summary">${
    wrong.length === 0
      ? 'Nothing is wrong.'
      : html`<a href="#checks">${count(wrong.length, 'check')} ${wrong.length === 1 ? 'needs' : 'need'} a person</a>: ${wrong.map(({ name }) => name).join(', ')}.`
  }</p>`;
}

function figuresPart(fleet: FleetFigures, alive: number, { zone }: Viewer): Html {
  const { slices, inbox, unknownRecipients, ticks, notifications, nextTick } = fleet;
  const slicesIn = (state: 'waiting' | 'queued' | 'held'): number =>
    slices.filter((each) => each.state === state).reduce((sum, each) => sum + each.slices, 0);
  const lag = Math.round(inbox.lag);
  const now = figures([
    { name: 'Workers', value: groupThousands(alive), note: 'sessions in Postgres' },
    {
      name: 'Slices in work',
      value: groupThousands(slicesIn('held')),
      note: `${groupThousands(slicesIn('queued'))} queued, ${groupThousands(slicesIn('waiting'))} waiting`,
    },
    {
      name: 'Delivery reports to apply',
      value: groupThousands(inbox.due),
      note: lag > 0 ? `the oldest for ${groupThousands(lag)} s` : 'the applier keeps up',
    },
    {
      name: 'Delivery reports to match later',
      value: groupThousands(inbox.later),
      note: `${groupThousands(inbox.failed)} could not be applied`,
    },
    { name: 'Recipients in doubt or abandoned', value: groupThousands(unknownRecipients), note: 'as booked' },
    {
      name: 'Next due time',
      value: nextTick ? time(nextTick, zone) : 'none',
      note: `without a run, of all time: ${groupThousands(ticks.missed)} missed, ${groupThousands(ticks.failed)} failed`,
    },
    {
      name: 'Notifications overdue',
      value: groupThousands(notifications.overdue),
      note: `${groupThousands(notifications.givenUp)} given up, of all time`,
    },
  ]);
  return section('figures', 'Now', now);
}

function checksPart({ at, checks }: Checked, viewer: Viewer): Html {
  const worst = (state: CheckState): number => -checkStates.indexOf(state);
  const sorted = checks.toSorted((one, other) => worst(one.state) - worst(other.state));
  const table = listTable(
    { caption: 'The worst first', columns: checkColumns, rows: sorted, id: 'checks' },
    viewer,
  );
  const when = html`<p class="hint">Checked at ${time(at, viewer.zone)} (${viewer.zone}).</p>`;
  return section('checks-part', 'Checks', [when, table]);
}

const checkColumns: Columns<Check> = [
  textColumn('name', 'Check'),
  stateColumn('state', 'State'),
  cellColumn('Found', ({ found }) => withCode(found)),
  cellColumn('Next', ({ nextStep }) => nextStep !== null && withCode(nextStep)),
];

function workersPart(workers: readonly ListedWorker[], alive: number, viewer: Viewer): Html {
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
