import type { FastifyInstance } from 'fastify';
import { InputError } from '../../domain/problems.ts';
import type { AsOf } from '../../domain/replica.ts';
import { addressOf, type FoundRecipient, searchRecipient } from '../../engine/reporting/recipient-report.ts';
import type { Settings } from '../../engine/settings.ts';
import { findOwnAccounts, listSuppressionsOfAddress } from '../../engine/suppressions/own-suppressions.ts';
import { count } from '../../platform/sentence.ts';
import { type Html, html } from '../../report/html/html.ts';
import { numberIn, textIn } from '../base/fields.ts';
import { addPage } from '../base/pages.ts';
import type { Tools } from '../base/tools.ts';
import type { View } from '../base/view.ts';
import { textField } from '../parts/form-fields.ts';
import { pager } from '../parts/list.ts';
import { agePart } from '../parts/parts.ts';
import { deliveryReportsPath, recipientPath } from '../paths.ts';
import { suppressionsPart } from '../suppressions/suppressions-part.ts';
import { historyPart } from './history-part.ts';

const recipientsPerPage = 20;

/** The search, and everything known of a recipient. The answer is not kept, and no log line has the address. */
export function addRecipientsPage(server: FastifyInstance, { limits, campaignSource }: Tools): void {
  addPage(server, { path: '/recipients', scope: 'read' }, async (view, { query }) => {
    const search = { text: textIn(query, 'q'), country: textIn(query, 'country').toUpperCase() || undefined };
    const page = Math.max(1, numberIn(query, 'page'));
    const title = 'Recipients';
    if (search.text === '') return { title, body: html`${searchForm(search)}${emptyPart}` };
    try {
      const found = await limits.page(() => find(view, campaignSource.settings, search, page));
      return { title, body: foundPart(view, { search, page, ...found }) };
    } catch (error) {
      if (!(error instanceof InputError)) throw error;
      return { title, body: searchForm(search, error.problems.map(({ what }) => what).join(' ')) };
    }
  });
}

const emptyPart = html`<div class="empty"><p>Search for a person: all runs that sent to them, what came back, what it cost, and whether the address is suppressed.</p>
<p><a href="/suppressions">All suppressions</a></p></div>`;

/** Whether an address is suppressed is read beside the search, which takes longer. */
async function find(view: View, settings: Settings, { text, country }: Search, page: number): Promise<Known> {
  const asked = { country, countryHint: 'no country is chosen' };
  const known = addressOf(text, asked);
  const [found, suppressed] = await Promise.all([
    searchRecipient(view.context, text, {
      ...asked,
      accounts: view.session.accounts,
      skip: (page - 1) * recipientsPerPage,
      limit: recipientsPerPage,
    }),
    known !== undefined ? suppressedPart(view, settings, known) : undefined,
  ]);
  const address = found.address ?? onlyAddress(found);
  if (suppressed || address === undefined) return { found, suppressed };
  return { found, suppressed: await suppressedPart(view, settings, address) };
}

type Known = {
  readonly found: FoundRecipient & { readonly asOf: AsOf };
  readonly suppressed: Html | undefined;
};
type Found = Known & { readonly search: Search; readonly page: number };

function foundPart(view: View, { search, page, found, suppressed }: Found): Html {
  const { histories, hasMore, unmatched } = found;
  return html`${searchForm(search)}
${suppressed}
${unmatched && unmatchedPart(unmatched.address, unmatched.reports)}
<section aria-labelledby="sent-title" id="sent">
<h2 id="sent-title">What was sent</h2>
${agePart(found.asOf)}
${histories.length === 0 && nothingPart(found, page)}
${histories.map((history, index) => historyPart(history, index, view))}
</section>
${pagerPart(search, page, hasMore)}`;
}

/** The address of all found recipients, if they have one. */
function onlyAddress({ histories }: FoundRecipient): string | undefined {
  const [first, ...others] = new Set(histories.map(({ address }) => address));
  return others.length > 0 || first === '' ? undefined : first?.toLowerCase();
}

async function suppressedPart(view: View, settings: Settings, address: string): Promise<Html> {
  try {
    const own = await findOwnAccounts(settings, view.session.accounts);
    const found = await listSuppressionsOfAddress(view.context, address, own);
    return suppressionsPart({ address, found, own }, view);
  } catch (error) {
    if (!(error instanceof InputError)) throw error;
    return html`<p class="banner" role="alert">It is not known whether <bdi>${address}</bdi> is suppressed. ${error.problems.map(({ what }) => what).join(' ')}</p>`;
  }
}

function unmatchedPart(address: string, reports: number): Html {
  const [unmatched, inbound] = (['unmatched', 'inbound'] as const).map((state) =>
    deliveryReportsPath('list', { state, address }),
  );
  return html`<p class="note">${reports} of its delivery reports and replies ${reports === 1 ? 'belongs' : 'belong'} to no known message: <a href="${unmatched}">delivery reports</a>, <a href="${inbound}">replies</a>.</p>`;
}

function nothingPart({ address }: FoundRecipient, page: number): Html {
  if (page > 1) return html`<p class="empty">There is nothing more.</p>`;
  const what =
    address === undefined
      ? html`No run has this MessageID or job number.`
      : html`No run has sent to <bdi>${address}</bdi>. A run that was purged no longer has its recipients.`;
  return html`<p class="empty">${what} Contacts that were left out are on the page of their run.</p>`;
}

function pagerPart({ text, country }: Search, page: number, hasMore: boolean): Html | undefined {
  const link = (other: number): string => recipientPath(text, { country, page: String(other) });
  return pager({
    previous: page > 1 ? { href: link(page - 1), text: 'Newer runs' } : undefined,
    next: hasMore ? { href: link(page + 1), text: 'Older runs' } : undefined,
    place: `Page ${page}, ${count(recipientsPerPage, 'recipient')} a page`,
  });
}

type Search = { readonly text: string; readonly country: string | undefined };

/** @param problem with what was searched for */
function searchForm({ text, country }: Search, problem?: string): Html {
  const isFaulty = problem !== undefined;
  return html`<search><form method="get" action="/recipients" class="filter">
<div class="field wide"><label for="q">Phone number, e-mail address, MessageID or job number</label>
${isFaulty && html`<span class="error" id="q-error" role="alert">${problem}</span>`}
<input id="q" name="q" type="search" required maxlength="320" value="${text}" autocomplete="off" spellcheck="false" autocapitalize="off" dir="auto"${isFaulty && html` aria-invalid="true" aria-describedby="q-error"`}></div>
${countryField(country)}
<p class="field"><button class="main">Search</button></p>
</form></search>`;
}

/** Two letters, such as NZ. */
export function countryField(country: string | undefined): Html {
  return textField({
    name: 'country',
    label: 'Country, such as AU',
    value: country,
    hint: 'For numbers without +',
    attributes: html`maxlength="2" pattern="[A-Za-z]{2}" size="4" autocomplete="off"`,
  });
}
