import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { channels } from '../../domain/message.ts';
import { suppressionSources } from '../../domain/suppressions.ts';
import { findOwnAccounts, type OwnAccounts } from '../../engine/suppressions/own-suppressions.ts';
import {
  countSuppressions,
  pageSuppressions,
  type SuppressionCounts,
  type SuppressionKind,
  type SuppressionPlace,
} from '../../ledger/suppressions/page.ts';
import { type Html, html } from '../../report/html/html.ts';
import { textIn, wordIn } from '../base/fields.ts';
import { addPage } from '../base/pages.ts';
import type { Tools } from '../base/tools.ts';
import type { Asked } from '../base/view.ts';
import { choiceField } from '../parts/form-fields.ts';
import { counted, number } from '../parts/parts.ts';
import { suppressionTable } from './suppressions-part.ts';

const suppressionsPerPage = 100;

/** Counting ends here: there can be millions. */
const maxCounted = 10_000;

/** Of the query: an account, or this word for suppressions of all accounts. */
const forAll = 'all accounts';

export function addSuppressionsPage(server: FastifyInstance, { scheduleSource }: Tools): void {
  addPage(server, { path: '/suppressions', scope: 'read' }, async (view, { query }) => {
    const { pool } = view.context.ledger;
    const own = await findOwnAccounts(scheduleSource.settings, view.session.accounts);
    const kind = kindOf(query, own);
    const range = { after: placeOf(query), limit: suppressionsPerPage + 1 };
    const found = await pageSuppressions(pool, kind, range);
    const counts = await countSuppressions(pool, kind, maxCounted + 1);
    const shown = found.slice(0, suppressionsPerPage);
    const last = found.length > shown.length ? shown.at(-1) : undefined;
    return {
      title: 'Suppressions',
      within: { href: '/recipients', text: 'Recipients' },
      body: html`<p>No run sends to these addresses. A recipient whose address is suppressed before its request is sent is left out then.</p>
${view.mayRun && html`<p><a class="button" href="/suppressions/add">Suppress an address</a></p>`}
${filterForm(kind, own)}
${counts.known + counts.hashed > 0 && countsPart(counts)}
${
  shown.length > 0
    ? suppressionTable(`Suppressions (${view.zone})`, shown, { view, own })
    : html`<p class="empty">${Object.values(query).some((value) => value !== undefined && value !== '') ? 'There is no such suppression.' : 'No address is suppressed yet.'} Add one above, or import a list: <code>volley suppress import list.csv --channel sms --reason "opted out"</code>.</p>`
}
${last && html`<p><a rel="next" href="${nextPage(query, last)}">More suppressions</a></p>`}
${shown.length > 0 && html`<p>Lists are imported and exported on the command line: <code>volley suppress import list.csv --channel sms --reason "opted out"</code>, <code>volley suppress list --csv</code>.</p>`}`,
    };
  });
}

function kindOf(query: Asked['query'], own: OwnAccounts): SuppressionKind {
  const account = wordIn(query, 'account', [forAll, ...own.names]);
  return {
    channel: wordIn(query, 'channel', channels),
    account: account === forAll ? '' : account,
    source: wordIn(query, 'source', suppressionSources),
    accounts: own.sources,
  };
}

/** Postgres keeps no NUL, so nothing comes after one. */
const name = z.string().regex(/^[^\0]*$/);
const place = z.tuple([z.enum(channels), name, name, name]);

/** The last suppression of the page before. */
function placeOf(query: Asked['query']): SuppressionPlace | undefined {
  const parsed = place.safeParse(parseJson(textIn(query, 'after')));
  if (!parsed.success) return undefined;
  const [channel, address, account, subAccount] = parsed.data;
  return { channel, address, account, subAccount };
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function nextPage(
  query: Asked['query'],
  { channel, address, account, subAccount }: SuppressionPlace,
): string {
  const asked = new URLSearchParams();
  for (const name of ['channel', 'account', 'source']) {
    const value = textIn(query, name);
    if (value !== '') asked.set(name, value);
  }
  asked.set('after', JSON.stringify([channel, address, account, subAccount]));
  return `/suppressions?${asked.toString()}`;
}

function countsPart({ known, hashed }: SuppressionCounts): Html {
  const words = (count: number): string =>
    count > maxCounted ? `more than ${number(maxCounted)} suppressions` : counted(count, 'suppression');
  return html`<p class="note">${words(known)}.${hashed > 0 && html` Besides, ${words(hashed)} whose addresses are kept as hashes since a purge: search for an address to see whether it is one of them.`}</p>`;
}

function filterForm({ channel, account, source }: SuppressionKind, own: OwnAccounts): Html {
  const choice = (name: string, label: string, values: readonly string[], chosen: string | undefined): Html =>
    choiceField({ name, label, values, chosen, none: 'any' });
  return html`<search><form method="get" action="/suppressions" class="filter">
${choice('channel', 'Channel', channels, channel)}
${choice('account', 'Account', [forAll, ...own.names], account === '' ? forAll : account)}
${choice('source', 'Who', suppressionSources, source)}
<p class="field"><button>Filter</button></p>
</form></search>`;
}
