import { z } from 'zod';
import { channels } from '../../domain/message.ts';
import { InputError } from '../../domain/problems.ts';
import type { Settings } from '../../engine/settings.ts';
import {
  findOwnAccounts,
  hideOthers,
  listSuppressionsOfAddress,
  type OwnAccounts,
} from '../../engine/suppressions/own-suppressions.ts';
import {
  countSuppressions,
  endOf,
  type PagedSuppression,
  pageSuppressions,
  type SuppressionCounts,
  type SuppressionPlace,
} from '../../ledger/suppressions/list.ts';
import { parseJson } from '../../platform/parse-json.ts';
import { count } from '../../platform/sentence.ts';
import { type Columns, cellColumn, pickColumns } from '../../report/column.ts';
import { groupThousands } from '../../report/html/figures.ts';
import { type Html, html } from '../../report/html/html.ts';
import { suppressionColumns } from '../../report/lists/suppressions.ts';
import { suppressionQuestion } from '../../report/questions.ts';
import { orInputError, problemText } from '../base/problems.ts';
import type { Tools } from '../base/tools.ts';
import type { View, Viewer } from '../base/view.ts';
import { filterForm, isAsked, readAsked } from '../parts/filter.ts';
import { listTable, pagedList } from '../parts/list.ts';
import { pathWith } from '../paths.ts';

const suppressionsPerPage = 100;

/** Counting ends here: there can be millions. */
const maxCounted = 10_000;

/** What the query has instead of an account for suppressions of all accounts. */
const forAll = 'all accounts';

export function addSuppressionsPage({ addPage, campaignSource }: Tools): void {
  addPage({ path: '/suppressions', scope: 'read' }, async (view, { query }) => {
    const { pool } = view.context.ledger;
    const own = await findOwnAccounts(campaignSource.settings, view.session.accounts);
    const filter = {
      ...suppressionQuestion([forAll, ...own.names]),
      path: '/suppressions',
      title: 'Find suppressions',
      cursor: 'after',
    } as const;
    const { asked } = readAsked(filter, query);
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

/** Whether an address is suppressed, by whom and why, with what the person may do about it; or why that is not known. */
export async function suppressedPart(view: View, settings: Settings, address: string): Promise<Html> {
  const reading = async () => {
    const own = await findOwnAccounts(settings, view.session.accounts);
    return { own, found: await listSuppressionsOfAddress(view.context, address, own) };
  };
  const read = await orInputError(reading());
  if (read instanceof InputError)
    return html`<p class="banner" role="alert">It is not known whether <bdi>${address}</bdi> is suppressed. ${problemText(read)}</p>`;
  const { own, found } = read;
  const add = pathWith('/suppressions/add', { address });
  const columns = suppressionColumnsFor(found, { view, own });
  const list = { caption: `Suppressions of ${address}`, columns, rows: found };
  return html`<section aria-labelledby="suppressed-title" id="suppressed">
<h2 id="suppressed-title">${found.length === 0 ? 'Not suppressed' : 'Suppressed'}</h2>
${found.length === 0 ? html`<p>Nothing keeps runs from sending to <bdi>${address}</bdi>.</p>` : listTable(list, view)}
<p class="links">${view.mayRun && html`<a class="button" href="${add}">Suppress this address</a>`}<a href="/suppressions">All suppressions</a></p>
</section>`;
}

/** The columns of suppressions, with a link where the person may remove one of them. */
function suppressionColumnsFor(
  suppressions: readonly PagedSuppression[],
  { view, own }: { readonly view: View; readonly own: Pick<OwnAccounts, 'sources'> },
): Columns<PagedSuppression> {
  const columns = pickColumns(
    suppressionColumns,
    'address',
    'channel',
    'account',
    'subAccount',
    'source',
    'by',
    'reason',
    'createdAt',
  );
  const mayRemoveIt = (each: PagedSuppression): boolean => mayRemove(view, own, each);
  if (!suppressions.some(mayRemoveIt)) return columns;
  return [...columns, cellColumn('Action', (each) => mayRemoveIt(each) && removeLink(each))];
}

/** One that applies to all accounts, or whose SubAccount is not shown, belongs to people who may see all. */
export function mayRemove(
  { mayAdmin }: Pick<Viewer, 'mayAdmin'>,
  { sources }: Pick<OwnAccounts, 'sources'>,
  { account, ofOneSubAccount }: PagedSuppression,
): boolean {
  return mayAdmin && !ofOneSubAccount && (sources === null || sources.includes(account));
}

function removeLink({ channel, address, account, subAccount }: PagedSuppression): Html {
  const asked = new URLSearchParams({ channel, address, account, subAccount }).toString();
  return html`<a href="/suppressions/remove?${asked}" aria-label="Unsuppress ${address} for ${channel}">Unsuppress</a>`;
}
