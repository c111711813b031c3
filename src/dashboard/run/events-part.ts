import type { LiveRun } from '../../engine/live/live-runs.ts';
import type { RunEvents } from '../../engine/live/slow-figures.ts';
import { formatReasonOrNull } from '../../platform/reason-text.ts';
import { type Html, html, type Part } from '../../report/html/html.ts';
import type { Viewer } from '../base/view.ts';
import { badge, table, time, withCode } from '../parts/parts.ts';

type Event = { readonly at: Date; readonly what: Part; readonly who: string; readonly why: Part };

/** What happened to the run, and who did what, newest first. */
export function eventsPart({ events }: LiveRun, { zone }: Viewer): Html | undefined {
  if (!events) return undefined;
  // Of events at the same time, the later ones come first too.
  const all = [
    ...notificationEvents(events).toReversed(),
    ...stateEvents(events).toReversed(),
    ...auditEvents(events),
  ];
  return html`<section aria-labelledby="events-title" id="events">
<h2 id="events-title">What happened</h2>
${table<Event>(
  `Newest first (${zone})`,
  [
    { title: 'At', cell: ({ at }) => time(at, zone) },
    { title: 'What', cell: ({ what }) => what },
    { title: 'Who', cell: ({ who }) => who },
    { title: 'Why', isLong: true, cell: ({ why }) => why },
  ],
  all.toSorted((one, other) => other.at.getTime() - one.at.getTime()),
)}
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
