import { channels } from '../../domain/message.ts';
import { runKinds, runStates } from '../../domain/runs.ts';
import type { RunFilter } from '../../ledger/runs/find.ts';
import { toInstant } from '../../platform/zoned-times.ts';
import { type Html, html } from '../../report/html/html.ts';
import { dayAfter, dayIn } from '../base/days.ts';
import { type Fields, textIn } from '../base/fields.ts';
import { choiceField, textField } from '../parts/form-fields.ts';

/** What a person asks the list of runs, as it is in the address. */
export type RunQuestion = Readonly<
  Record<'q' | 'state' | 'channel' | 'kind' | 'account' | 'campaign' | 'from' | 'to' | 'before', string>
>;

export function readQuestion(fields: Fields): RunQuestion {
  const text = (name: keyof RunQuestion): string =>
    textIn(fields, name).slice(0, 300).replaceAll('\u0000', '').toWellFormed().trim();
  return {
    q: text('q'),
    state: text('state'),
    channel: text('channel'),
    kind: text('kind'),
    account: text('account'),
    campaign: text('campaign'),
    from: dayIn(text('from')),
    to: dayIn(text('to')),
    before: text('before'),
  };
}

/** @param zone of the days from and to */
export function toFilter(
  question: RunQuestion,
  { accounts, zone }: { readonly accounts: readonly string[] | null; readonly zone: string },
): RunFilter {
  const { q, account, campaign, before } = question;
  const among = <Value extends string>(values: readonly Value[], text: string): Value | undefined =>
    values.find((value) => value === text);
  const [, time = '', run = ''] = /^([\dT:.Z-]{20,30}) ([\w-]{1,64})$/.exec(before) ?? [];
  const createdAt = new Date(time);
  const beginOf = (day: string): Date | undefined =>
    day === '' ? undefined : toInstant(`${day}T00:00`, zone);
  return {
    plannedFrom: beginOf(question.from),
    plannedBefore: beginOf(question.to === '' ? '' : dayAfter(question.to)),
    accounts,
    search: q === '' ? undefined : q,
    state: among(runStates, question.state),
    channel: among(channels, question.channel),
    kind: among(runKinds, question.kind),
    account: account === '' ? undefined : account,
    campaign: campaign === '' ? undefined : campaign,
    before: run === '' || Number.isNaN(createdAt.getTime()) ? undefined : { createdAt, run },
  };
}

/** The address of the list, or of its stream, with these changes. */
export function addressOf(path: string, question: RunQuestion, changes: Partial<RunQuestion> = {}): string {
  const asked = Object.entries({ ...question, ...changes }).filter(([, value]) => value !== '');
  return asked.length === 0 ? path : `${path}?${new URLSearchParams(asked).toString()}`;
}

export function isFiltered({ before: _, ...question }: RunQuestion): boolean {
  return Object.values(question).some((value) => value !== '');
}

/** @param accounts offered to the person, who can also name another */
export function filterForm(question: RunQuestion, accounts: readonly string[]): Html {
  return html`<form class="filter runs" method="get" action="/" role="search" aria-label="Find runs">
${field('q', 'Run or campaign', question.q, html`autocomplete="off" dir="auto"`)}
${choice('state', 'State', runStates, question.state)}
${choice('channel', 'Channel', channels, question.channel)}
${choice('kind', 'Kind', runKinds, question.kind)}
${field('account', 'Account', question.account, html`list="filter-accounts" autocomplete="off" dir="auto"`)}
<datalist id="filter-accounts">${accounts.map((account) => html`<option value="${account}">`)}</datalist>
${field('from', 'Planned from', question.from, html`type="date"`)}
${field('to', 'Until', question.to, html`type="date"`)}
${question.campaign !== '' && html`<input type="hidden" name="campaign" value="${question.campaign}">`}
<p class="find"><button>Find</button>
${isFiltered(question) && html`<a href="/">Show all</a>`}</p>
</form>
${question.campaign !== '' && html`<p>Only runs of the campaign <bdi>${question.campaign}</bdi>.</p>`}`;
}

function field(name: keyof RunQuestion, label: string, value: string, attributes: Html): Html {
  return textField({ name, id: `filter-${name}`, label, value, attributes });
}

function choice(name: keyof RunQuestion, label: string, values: readonly string[], chosen: string): Html {
  return choiceField({ name, id: `filter-${name}`, label, values, chosen, none: 'all' });
}
