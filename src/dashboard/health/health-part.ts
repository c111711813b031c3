import { type Check, type CheckState, checkStates } from '../../domain/doctor.ts';
import type { DatabaseState, FleetFigures } from '../../engine/reporting/fleet-state.ts';
import type { ListedWorker } from '../../ledger/operations/workers.ts';
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
import { type Html, html } from '../../report/html/html.ts';
import { runColumn } from '../../report/lists/usual.ts';
import type { Viewer } from '../base/view.ts';
import { listTable } from '../parts/list.ts';
import { figures, number, withCode } from '../parts/parts.ts';

/** Of all accounts. */
export type Checked = {
  /** When the checks began. */
  readonly at: Date;
  readonly checks: readonly Check[];
  readonly figures: FleetFigures | undefined;
};

/** Of the processes that share the ledger. */
export type Health = {
  readonly workers: readonly ListedWorker[];
  /** As `/readyz` answers. */
  readonly database: DatabaseState;
  /** Of all accounts; undefined for persons who see some only. */
  readonly fleet: Checked | undefined;
};

export function healthPart({ workers, database, fleet }: Health, viewer: Viewer): Html {
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
  return html`<section aria-labelledby="figures-title" id="figures"><h2 id="figures-title">Now</h2>
${figures([
  { name: 'Workers', value: number(alive), note: 'sessions in Postgres' },
  {
    name: 'Slices in work',
    value: number(slicesIn('held')),
    note: `${number(slicesIn('queued'))} queued, ${number(slicesIn('waiting'))} waiting`,
  },
  {
    name: 'Delivery reports to apply',
    value: number(inbox.due),
    note: lag > 0 ? `the oldest for ${number(lag)} s` : 'the applier keeps up',
  },
  {
    name: 'Delivery reports to match later',
    value: number(inbox.later),
    note: `${number(inbox.failed)} could not be applied`,
  },
  { name: 'Recipients in doubt or abandoned', value: number(unknownRecipients), note: 'as booked' },
  {
    name: 'Next due time',
    value: nextTick ? time(nextTick, zone) : 'none',
    note: `without a run, of all time: ${number(ticks.missed)} missed, ${number(ticks.failed)} failed`,
  },
  {
    name: 'Notifications overdue',
    value: number(notifications.overdue),
    note: `${number(notifications.givenUp)} given up, of all time`,
  },
])}</section>`;
}

function checksPart({ at, checks }: Checked, viewer: Viewer): Html {
  const worst = (state: CheckState): number => -checkStates.indexOf(state);
  const sorted = checks.toSorted((one, other) => worst(one.state) - worst(other.state));
  return html`<section aria-labelledby="checks-title" id="checks-part">
<h2 id="checks-title">Checks</h2>
<p class="hint">Checked at ${time(at, viewer.zone)} (${viewer.zone}).</p>
${listTable({ caption: 'The worst first', columns: checkColumns, rows: sorted, id: 'checks' }, viewer)}
</section>`;
}

const checkColumns: Columns<Check> = [
  textColumn('name', 'Check'),
  stateColumn('state', 'State'),
  cellColumn('Found', ({ found }) => withCode(found)),
  cellColumn('Next', ({ nextStep }) => nextStep !== null && withCode(nextStep)),
];

function workersPart(workers: readonly ListedWorker[], alive: number, viewer: Viewer): Html {
  return html`<section aria-labelledby="workers-title" id="workers-part">
<h2 id="workers-title">Workers: ${alive}</h2>
${
  workers.length === 0
    ? html`<p class="empty">No worker is alive, so nothing is sent. Start one with <code>volley serve</code> or <code>volley worker</code>.</p>`
    : listTable(
        { caption: 'Workers, and what each holds', columns: workerColumns, rows: workers, id: 'workers' },
        viewer,
      )
}
</section>`;
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
