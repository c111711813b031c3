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
import { count } from '../../platform/sentence.ts';
import { type Html, html } from '../../report/html/html.ts';
import { addPage } from '../base/pages.ts';
import type { Tools } from '../base/tools.ts';
import { type Asked, type Filter, filterForm, readAsked } from '../parts/filter.ts';
import { pagedList } from '../parts/list.ts';
import { number } from '../parts/parts.ts';
import { pathWith } from '../paths.ts';
import { suppressionColumnsFor } from './suppressions-part.ts';

const suppressionsPerPage = 100;

/** Counting ends here: there can be millions. */
const maxCounted = 10_000;

/** Of the query: an account, or this word for suppressions of all accounts. */
const forAll = 'all accounts';

export function addSuppressionsPage(server: FastifyInstance, { scheduleSource }: Tools): void {
  addPage(server, { path: '/suppressions', scope: 'read' }, async (view, { query }) => {
    const { pool } = view.context.ledger;
    const own = await findOwnAccounts(scheduleSource.settings, view.session.accounts);
    const filter = filterOf(own);
    const asked = readAsked(filter, query);
    const kind = kindOf(asked, own);
    const range = { after: placeOf(asked['after']), limit: suppressionsPerPage + 1 };
    const found = await pageSuppressions(pool, kind, range);
    const counts = await countSuppressions(pool, kind, maxCounted + 1);
    return {
      title: 'Suppressions',
      within: { href: '/recipients', text: 'Recipients' },
      body: html`<p>No run sends to these addresses. A recipient whose address is suppressed before its request is sent is left out then.</p>
${view.mayRun && html`<p><a class="button" href="/suppressions/add">Suppress an address</a></p>`}
${filterForm(filter, asked)}
${counts.known + counts.hashed > 0 && countsPart(counts)}
${pagedList(
  {
    caption: 'Suppressions',
    columns: suppressionColumnsFor(found, { view, own }),
    found,
    perPage: suppressionsPerPage,
    none: html`<p class="empty">${Object.keys(asked).length > 0 ? 'There is no such suppression.' : 'No address is suppressed yet.'} Add one above, or import a list: <code>volley suppress import list.csv --channel sms --reason "opted out"</code>.</p>`,
    next: (last) => ({
      href: pathWith('/suppressions', { ...asked, after: placeText(last) }),
      text: 'More suppressions',
    }),
  },
  view,
)}
${found.length > 0 && html`<p>Lists are imported and exported on the command line: <code>volley suppress import list.csv --channel sms --reason "opted out"</code>, <code>volley suppress list --csv</code>.</p>`}`,
    };
  });
}

function filterOf({ names }: OwnAccounts): Filter {
  return {
    path: '/suppressions',
    title: 'Find suppressions',
    place: 'after',
    fields: [
      { name: 'channel', label: 'Channel', kind: 'choice', values: channels },
      { name: 'account', label: 'Account', kind: 'choice', values: [forAll, ...names] },
      { name: 'source', label: 'Source', kind: 'choice', values: suppressionSources },
    ],
  };
}

function kindOf({ channel, account, source }: Asked, own: OwnAccounts): SuppressionKind {
  return {
    channel: channels.find((each) => each === channel),
    account: account === forAll ? '' : account,
    source: suppressionSources.find((each) => each === source),
    accounts: own.sources,
  };
}

/** Postgres keeps no NUL, so nothing comes after one. */
const name = z.string().regex(/^[^\0]*$/);
const place = z.tuple([z.enum(channels), name, name, name]);

/** The last suppression of the page before. */
function placeOf(text = ''): SuppressionPlace | undefined {
  const parsed = place.safeParse(parseJson(text));
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

function placeText({ channel, address, account, subAccount }: SuppressionPlace): string {
  return JSON.stringify([channel, address, account, subAccount]);
}

function countsPart({ known, hashed }: SuppressionCounts): Html {
  const words = (found: number): string =>
    found > maxCounted ? `more than ${number(maxCounted)} suppressions` : count(found, 'suppression');
  return html`<p class="note">${words(known)}.${hashed > 0 && html` Besides, ${words(hashed)} whose addresses are kept as hashes since a purge: search for an address to see whether it is one of them.`}</p>`;
}
