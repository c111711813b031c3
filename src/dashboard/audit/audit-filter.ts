import { auditActions, auditOutcomes } from '../../domain/access.ts';
import { InputError } from '../../domain/problems.ts';
import type { AuditFilter } from '../../ledger/audit/audit.ts';
import { toInstant } from '../../platform/zoned-times.ts';
import { type Html, html } from '../../report/html/html.ts';
import { dayAfter, dayIn } from '../base/days.ts';
import { type Fields, textIn } from '../base/fields.ts';
import { choiceField, textField } from '../parts/form-fields.ts';

const names = ['run', 'who', 'token', 'action', 'outcome', 'since', 'until', 'before'] as const;

/**
 * @param zone of the dates; both days are included
 * @throws InputError for a date that is none
 */
export function filterOf(query: Fields, zone: string): AuditFilter {
  const text = (name: (typeof names)[number]): string | undefined =>
    textIn(query, name).replaceAll('\u0000', '').slice(0, 200) || undefined;
  const dayOf = (name: 'since' | 'until'): string | undefined => {
    const written = text(name);
    if (written === undefined || dayIn(written) !== '') return written;
    throw new InputError([{ where: name, what: 'Expected a date such as 2026-11-21.' }]);
  };
  const beginOf = (day: string): Date => toInstant(`${day}T00:00`, zone);
  const [since, until] = [dayOf('since'), dayOf('until')];
  const before = text('before');
  return {
    run: text('run'),
    who: text('who'),
    token: text('token'),
    action: auditActions.find((action) => action === text('action')),
    outcome: auditOutcomes.find((outcome) => outcome === text('outcome')),
    since: since === undefined ? undefined : beginOf(since),
    until: until === undefined ? undefined : beginOf(dayAfter(until)),
    before: before !== undefined && /^\d{1,18}$/.test(before) ? before : undefined,
  };
}

/** What was asked, for the head of a download. */
export function describeFilter(query: Fields): readonly string[] {
  return names.flatMap((name) => {
    const value = textIn(query, name);
    return value === '' || name === 'before' ? [] : [`${name}: ${value}`];
  });
}

export function addressOf(path: string, query: Fields, changes: Readonly<Record<string, string>>): string {
  const asked = Object.fromEntries(names.map((name) => [name, textIn(query, name)]));
  const written = Object.entries({ ...asked, ...changes }).filter(([, value]) => value !== '');
  return written.length === 0 ? path : `${path}?${new URLSearchParams(written).toString()}`;
}

export function filterForm(query: Fields, zone: string): Html {
  const of = (name: string) => ({ name, id: `filter-${name}` });
  const field = (name: string, label: string, type = 'text'): Html => {
    const attributes = html`type="${type}" dir="auto" autocomplete="off"`;
    return textField({ ...of(name), label, value: textIn(query, name), attributes });
  };
  const choice = (name: string, label: string, values: readonly string[]): Html =>
    choiceField({ ...of(name), label, values, chosen: textIn(query, name), none: 'all' });
  return html`<form class="filter" method="get" action="/audit" role="search" aria-label="Find entries">
${field('run', 'Run')}
${field('who', 'Actor')}
${field('token', 'Token')}
${choice('action', 'Action', auditActions)}
${choice('outcome', 'Outcome', auditOutcomes)}
${field('since', `From (${zone})`, 'date')}
${field('until', 'To, included', 'date')}
<button>Find</button>
${addressOf('', query, { before: '' }) !== '' && html`<a href="/audit">Show all</a>`}
</form>`;
}
