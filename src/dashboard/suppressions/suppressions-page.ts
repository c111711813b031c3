import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { channels } from '../../domain/message.ts';
import { findOwnAccounts, hideOthers } from '../../engine/suppressions/own-suppressions.ts';
import {
  countSuppressions,
  endOf,
  pageSuppressions,
  type SuppressionCounts,
  type SuppressionPlace,
} from '../../ledger/suppressions/list.ts';
import { parseJson } from '../../platform/parse-json.ts';
import { count } from '../../platform/sentence.ts';
import { groupThousands } from '../../report/html/figures.ts';
import { type Html, html } from '../../report/html/html.ts';
import { suppressionQuestion } from '../../report/questions.ts';
import { addPage } from '../base/pages.ts';
import type { Tools } from '../base/tools.ts';
import { filterForm, isAsked, readAsked } from '../parts/filter.ts';
import { pagedList } from '../parts/list.ts';
import { pathWith } from '../paths.ts';
import { suppressionColumnsFor } from './suppressions-part.ts';

const suppressionsPerPage = 100;

/** Counting ends here: there can be millions. */
const maxCounted = 10_000;

/** What the query has instead of an account for suppressions of all accounts. */
const forAll = 'all accounts';

/** The list of suppressed addresses. */
export function addSuppressionsPage(server: FastifyInstance, { campaignSource }: Tools): void {
  addPage(server, { path: '/suppressions', scope: 'read' }, async (view, { query }) => {
    const { pool } = view.context.ledger;
    const own = await findOwnAccounts(campaignSource.settings, view.session.accounts);
    const filter = {
      ...suppressionQuestion([forAll, ...own.names]),
      path: '/suppressions',
      title: 'Find suppressions',
      cursor: 'after',
    } as const;
    const asked = readAsked(filter, query);
    const { channel, account, source } = asked;
    const kind = { channel, account: account === forAll ? '' : account, source, accounts: own.sources };
    const after = cursorOf(asked.after);
    const page = await pageSuppressions(pool, kind, { after, limit: suppressionsPerPage + 1 });
    const found = await hideOthers(view.context, page, own);
    const counts = await countSuppressions(pool, kind, maxCounted + 1);
    const list = {
      caption: 'Suppressions',
      columns: suppressionColumnsFor(found, { view, own }),
      found,
      perPage: suppressionsPerPage,
      none: html`<p class="empty">${isAsked(filter, asked) ? 'There is no such suppression.' : 'No address is suppressed yet.'} Add one above, or import a list: <code>volley suppress import list.csv --channel sms --reason "opted out"</code>.</p>`,
      next: () => ({
        href: pathWith('/suppressions', {
          ...asked,
          after: cursorText(endOf(page.slice(0, suppressionsPerPage), after)),
        }),
        text: 'More suppressions',
      }),
    };
    return {
      title: 'Suppressions',
      within: { href: '/recipients', text: 'Recipients' },
      body: html`<p>No run sends to these addresses. A recipient whose address is suppressed before its request is sent is left out then.</p>
${view.mayRun && html`<p><a class="button" href="/suppressions/add">Suppress an address</a></p>`}
${filterForm(filter, query)}
${counts.known + counts.hashed > 0 && countsPart(counts)}
${pagedList(list, view)}
${found.length > 0 && html`<p>Lists are imported and exported on the command line: <code>volley suppress import list.csv --channel sms --reason "opted out"</code>, <code>volley suppress list --csv</code>.</p>`}`,
    };
  });
}

/** Postgres keeps no NUL, so nothing comes after one. */
const name = z.string().regex(/^[^\0]*$/);
const cursor = z.tuple([z.enum(channels), name, name, z.int().min(0).max(1_000_000_000)]);

/** The last suppression of the page before. */
function cursorOf(text = ''): SuppressionPlace | undefined {
  const parsed = cursor.safeParse(parseJson(text));
  if (!parsed.success) return undefined;
  const [channel, address, account, listed] = parsed.data;
  return { channel, address, account, listed };
}

function cursorText(place: SuppressionPlace | undefined): string {
  return JSON.stringify(place && [place.channel, place.address, place.account, place.listed]);
}

function countsPart({ known, hashed }: SuppressionCounts): Html {
  const words = (found: number): string =>
    found > maxCounted ? `more than ${groupThousands(maxCounted)} suppressions` : count(found, 'suppression');
  return html`<p class="note">${words(known)}.${hashed > 0 && html` Besides, ${words(hashed)} whose addresses are kept as hashes since a purge: search for an address to see whether it is one of them.`}</p>`;
}
