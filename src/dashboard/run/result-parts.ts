import { formatReasonOrNull } from '../../domain/reasons.ts';
import type { AttemptVerdict } from '../../domain/runs.ts';
import type { LiveRun, RunEvents } from '../../engine/live/live-runs.ts';
import type { PayerCost, PayerCosts } from '../../ledger/billing/run-costs.ts';
import { type EndedAttempts, groupResults } from '../../ledger/counts/answers.ts';
import { createAmountFormat } from '../../platform/money.ts';
import {
  type Columns,
  cellColumn,
  integerColumn,
  stateColumn,
  textColumn,
  timeColumn,
  wordsColumn,
} from '../../report/column.ts';
import { badge, time } from '../../report/html/cells.ts';
import { chartFigure } from '../../report/html/chart.ts';
import { createTimeChart } from '../../report/html/charts.ts';
import { groupThousands } from '../../report/html/figures.ts';
import { type Html, html, type Part } from '../../report/html/html.ts';
import { interfaceWords } from '../../report/lists/audit.ts';
import { decisionColumns } from '../../report/lists/decisions.ts';
import {
  attemptEndColumns,
  estimatedColumn,
  payerColumn,
  priceColumn,
} from '../../report/lists/run-results.ts';
import { recipientsColumn } from '../../report/lists/usual.ts';
import { formatLocal, type TimeUnit } from '../../report/time.ts';
import type { Viewer } from '../base/view.ts';
import { listTable } from '../parts/list.ts';
import { withCode } from '../parts/next-step.ts';
import { figures, folded, section } from '../parts/parts.ts';
import { type Cause, listCauses, peopleLink } from './outcome-part.ts';

/** Why what did not arrive did not: in the words of the service, of delivery reports and of the plan. */
export function failuresPart({ head, ...live }: LiveRun, viewer: Viewer): Html | undefined {
  const causes = listCauses(live).filter(({ state }) => state !== 'delivered');
  return causes.length === 0
    ? undefined
    : section('failures', 'What did not arrive', causeTable(head.run, causes, viewer));
}

/** Causes, the largest first, each with a link to its people. */
export function causeTable(run: string, causes: readonly Cause[], viewer: Viewer): Html | undefined {
  const columns: Columns<Cause> = [
    wordsColumn('words', 'Why', ({ words }) => words),
    stateColumn('state', 'State', ({ state }) => state),
    integerColumn('contacts', 'Contacts', ({ contacts }) => contacts, {
      cell: (cause) => (cause.cause === '' ? groupThousands(cause.contacts) : peopleLink(run, cause)),
    }),
  ];
  const rowId = ({ state, cause }: Cause): string => `${state}-${cause}`;
  return listTable(
    { caption: 'Why, the most frequent first', columns, rows: causes, id: 'causes', rowId },
    viewer,
  );
}

/** Milliseconds. A page says when costs were booked that are older: booking rests longer than it takes. */
const currentFor = 2_000;

export function costsPart({ costs, at }: LiveRun, viewer: Viewer): Html | undefined {
  if (costs.total.recipients === 0) return undefined;
  const { asOf, currency, bySubAccount, byChargeCode } = costs;
  const all = [...bySubAccount.lines, ...byChargeCode.lines];
  const format = createAmountFormat(all.flatMap(({ price, estimated }) => [price, estimated]));
  const amount = (exact: string): string => groupThousands(format(exact));
  const tableOf = (name: string, { lines: rows, others }: PayerCosts): Html => {
    const columns: Columns<PayerCost> = [
      payerColumn(name),
      recipientsColumn,
      { ...estimatedColumn, shown: ({ estimated }) => (currency === null ? '–' : amount(estimated)) },
      { ...priceColumn, shown: ({ price }) => amount(price) },
    ];
    const caption = others
      ? `${name}: the ${rows.length} of ${groupThousands(rows.length + others.count)} that pay most`
      : `By ${name}`;
    return listTable({ caption, columns, rows }, viewer);
  };
  const isOld = asOf !== undefined && at.getTime() - asOf.getTime() > currentFor;
  const title = html`Cost by payer ${isOld && html`<small>as of ${time(asOf, viewer.zone)}</small>`}`;
  const body = html`<div class="side-by-side">
${tableOf('SubAccount', bySubAccount)}
${tableOf('ChargeCode', byChargeCode)}
</div>`;
  return folded('costs', title, body);
}

/** What was decided about a run that is watched; undefined if nothing was. */
export function decisionsPart({ decisions }: LiveRun, viewer: Viewer): Html | undefined {
  if (decisions.length === 0) return undefined;
  const list = { caption: 'Oldest first', columns: decisionColumns, rows: decisions };
  return section('decisions', 'Decisions', listTable(list, viewer));
}

type Event = { readonly at: Date; readonly what: Part; readonly who: string; readonly why: Part };

const columns: Columns<Event> = [
  timeColumn('at', 'At'),
  cellColumn('What', ({ what }) => what),
  textColumn('who', 'Who'),
  wordsColumn('why', 'Why', () => null, { cell: ({ why }) => why }),
];

export function eventsPart({ events }: LiveRun, viewer: Viewer): Html {
  // Of events at the same time, the later ones come first too.
  const all = [
    ...notificationEvents(events).toReversed(),
    ...stateEvents(events).toReversed(),
    ...auditEvents(events),
  ];
  const rows = all.toSorted((one, other) => other.at.getTime() - one.at.getTime());
  return folded('events', 'What happened', listTable({ caption: 'Newest first', columns, rows }, viewer));
}

function stateEvents({ states }: RunEvents): Event[] {
  return states.map(({ state, reason, at }) => ({
    at,
    what: badge(state),
    who: '',
    why: withCode(formatReasonOrNull(reason) ?? ''),
  }));
}

function auditEvents({ audit }: RunEvents): Event[] {
  return audit.map(({ at, who, how, action, outcome, details }) => {
    const { reason } = details;
    const refused = outcome === 'refused' ? ' (refused)' : '';
    return {
      at,
      what: `${action}${refused}`,
      who: `${who}, ${interfaceWords[how]}`,
      why: typeof reason === 'string' ? reason : '',
    };
  });
}

function notificationEvents({ notifications }: RunEvents): Event[] {
  return notifications.map(({ createdAt, event, way, state, problem }) => ({
    at: createdAt,
    what: `notification of "${event}" by ${way}: ${state}`,
    who: '',
    why: problem ?? '',
  }));
}

const wideWidth = 1_000;

export function chartPart({ answers: { ended } }: LiveRun, { zone }: Viewer): Html | undefined {
  const { unit, series } = pointsOf(ended, zone);
  const [first] = series;
  if (!first) return undefined;
  const title = `${capitalised(first.verdict)} by ${unit} (${zone})`;
  return chartFigure(createTimeChart(title, unit, first.points, wideWidth), 'answers-0');
}

export function answersPart({ answers }: LiveRun, viewer: Viewer): Html | undefined {
  const { ended, latency } = answers;
  if (ended.length === 0) return undefined;
  const { unit, series } = pointsOf(ended, viewer.zone);
  const milliseconds = (value: number | null): string =>
    value === null ? '–' : `${groupThousands(value)} ms`;
  const charts = series
    .slice(1)
    .map(({ verdict, points }) =>
      createTimeChart(`${capitalised(verdict)} by ${unit} (${viewer.zone})`, unit, points),
    );
  const rows = groupResults(ended);
  const body = html`${figures([
    { name: 'Answered', value: groupThousands(latency.answered) },
    { name: 'Half within', value: milliseconds(latency.median) },
    { name: '95 % within', value: milliseconds(latency.p95) },
    { name: '99 % within', value: milliseconds(latency.p99) },
  ])}
${charts.length > 0 && html`<div class="charts">${charts.map((drawn, index) => chartFigure(drawn, `answers-${index + 1}`))}</div>`}
${listTable({ caption: 'How attempts ended', columns: attemptEndColumns, rows }, viewer)}`;
  return folded('answers', 'Answers of the service', body);
}

function capitalised(verdict: AttemptVerdict): string {
  return verdict.charAt(0).toUpperCase() + verdict.slice(1).replaceAll('_', ' ');
}

/** A count at the local start of its interval, as charts of time want it. */
type Point = { readonly at: string; readonly count: number };

/** Seconds of the intervals in which a zone's local times are the same distance apart. */
const steps = { second: 1, minute: 60, hour: 900, day: 900 } as const satisfies Record<TimeUnit, number>;

/** `2026-11-03 04:05:06` up to the unit. */
const lengths = { second: 19, minute: 16, hour: 13, day: 10 } as const satisfies Record<TimeUnit, number>;

/**
 * Counts answers in at most 120 seconds, 60 minutes or 72 hours, as the report of the run does: accepted first, then the
 * others, the most frequent first. All cover the same time.
 */
export function pointsOf(ended: readonly EndedAttempts[], zone: string) {
  const [first, last] = [ended[0]?.second ?? 0, ended.at(-1)?.second ?? 0];
  const unit = unitOf(last - first);
  const byVerdict = Map.groupBy(ended, ({ verdict }) => verdict);
  const series = [...byVerdict].map(([verdict, of]) => {
    const nothing = { verdict, httpStatus: null, attempts: 0 } as const;
    const whole = [{ ...nothing, second: first }, ...of, { ...nothing, second: last }];
    return {
      verdict,
      points: joinPoints(whole, unit, zone),
      attempts: of.reduce((sum, { attempts }) => sum + attempts, 0),
    };
  });
  const isFirst = ({ verdict }: (typeof series)[number]): number => Number(verdict === 'accepted');
  return {
    unit,
    series: series.toSorted((one, other) => isFirst(other) - isFirst(one) || other.attempts - one.attempts),
  };
}

function unitOf(seconds: number): TimeUnit {
  if (seconds < 120) return 'second';
  if (seconds <= 3_600) return 'minute';
  return seconds <= 3 * 86_400 ? 'hour' : 'day';
}

/** Local times are formatted once for each interval: it takes longer than all else. */
function joinPoints(ended: readonly EndedAttempts[], unit: TimeUnit, zone: string): Point[] {
  const counts = new Map<number, number>();
  for (const { second, attempts } of ended) {
    const start = second - (second % steps[unit]);
    counts.set(start, (counts.get(start) ?? 0) + attempts);
  }
  return [...counts].map(([start, count]) => {
    const at = formatLocal(new Date(start * 1000), zone)
      .slice(0, lengths[unit])
      .replace(' ', 'T');
    return { at, count };
  });
}
