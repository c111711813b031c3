import { formatReasonOrNull } from '../../domain/reasons.ts';
import type { LiveRun, RunEvents } from '../../engine/live/live-runs.ts';
import { type Columns, cellColumn, textColumn, timeColumn, wordsColumn } from '../../report/column.ts';
import { badge } from '../../report/html/cells.ts';
import { type Html, html, type Part } from '../../report/html/html.ts';
import type { Viewer } from '../base/view.ts';
import { listTable } from '../parts/list.ts';
import { withCode } from '../parts/parts.ts';

type Event = { readonly at: Date; readonly what: Part; readonly who: string; readonly why: Part };

const columns: Columns<Event> = [
  timeColumn('at', 'At'),
  cellColumn('What', ({ what }) => what),
  textColumn('who', 'Who'),
  wordsColumn('why', 'Why', () => null, { cell: ({ why }) => why }),
];

/** What happened to the run, and who did what, newest first. */
export function eventsPart({ events }: LiveRun, viewer: Viewer): Html {
  // Of events at the same time, the later ones come first too.
  const all = [
    ...notificationEvents(events).toReversed(),
    ...stateEvents(events).toReversed(),
    ...auditEvents(events),
  ];
  return html`<section aria-labelledby="events-title" id="events">
<h2 id="events-title">What happened</h2>
${listTable({ caption: 'Newest first', columns, rows: all.toSorted((one, other) => other.at.getTime() - one.at.getTime()) }, viewer)}
</section>`;
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
      who: `${who} (${how})`,
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
