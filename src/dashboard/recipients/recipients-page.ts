import { InputError } from '../../domain/problems.ts';
import type { AsOf } from '../../domain/replica.ts';
import { allows } from '../../engine/access/tokens.ts';
import { type RecipientReport, searchRecipient } from '../../engine/reporting/recipient-report.ts';
import type { RecipientKey } from '../../ledger/recipients/find.ts';
import { count } from '../../platform/sentence.ts';
import { type Html, html } from '../../report/html/html.ts';
import { searchSentences } from '../../report/search-words.ts';
import { numberIn, textIn } from '../base/fields.ts';
import { problemText } from '../base/problems.ts';
import type { Tools } from '../base/tools.ts';
import type { View } from '../base/view.ts';
import { textField } from '../parts/form-fields.ts';
import { pager } from '../parts/list.ts';
import { agePart, section } from '../parts/parts.ts';
import { deliveryReportsPath, recipientPath } from '../paths.ts';
import { suppressedPart } from '../suppressions/suppressions-page.ts';
import { asRow, recipientsTable } from './recipient-page.ts';

const recipientsPerPage = 20;
/** Milliseconds in which contact files are searched. */
const wordsTime = 700;

/** The search. Its answer is not kept, and no log line has its text. */
export function addRecipientsPage({ addPage, limits, campaignSource }: Tools): void {
  addPage({ path: '/recipients', scope: 'read' }, async (view, { query }) => {
    const search = { text: textIn(query, 'q'), country: textIn(query, 'country').toUpperCase() || undefined };
    const page = Math.max(1, numberIn(query, 'page'));
    const maySearch = allows(view.session.scope, 'search');
    const title = 'Recipients';
    if (search.text === '') return { title, body: html`${searchForm(search, maySearch)}${emptyPart}` };
    try {
      const found = await limits.page(() =>
        searchRecipient(view.context, search.text, {
          country: search.country,
          countryHint: 'no run has a country: choose one',
          accounts: view.session.accounts,
          skip: (page - 1) * recipientsPerPage,
          limit: recipientsPerPage,
          wordsTime: maySearch ? wordsTime : undefined,
        }),
      );
      const suppressed = await Promise.all(
        addressesOf(found).map((address) => suppressedPart(view, campaignSource.settings, address)),
      );
      const body = html`${searchForm(search, maySearch)}${foundPart(view, search, page, found)}${suppressed}`;
      return { title, body };
    } catch (error) {
      if (!(error instanceof InputError)) throw error;
      return { title, body: searchForm(search, maySearch, problemText(error)) };
    }
  });
}

const emptyPart = html`<div class="empty"><p>Search for a person: all runs that sent to them, the text that they got, what came back, what it cost, and whether the address is suppressed.</p>
<p><a href="/suppressions">All suppressions</a></p></div>`;

/** The addresses that were searched; otherwise that of all found recipients, if they have one. */
function addressesOf({ readings, histories }: RecipientReport): readonly string[] {
  const found = [...new Set(histories.map(({ address }) => address.toLowerCase()))].filter(Boolean);
  if (histories.length > 0) return found.length === 1 ? found : [];
  return readings.flatMap((reading) => (reading.kind === 'address' ? reading.address : []));
}

type Found = RecipientReport & { readonly asOf: AsOf };

function foundPart(view: View, search: Search, page: number, report: Found): Html {
  const { unmatched, asOf, histories, hasMore } = report;
  const none = page > 1 ? 'There is nothing more.' : 'Nothing was found.';
  const byName =
    !allows(view.session.scope, 'search') &&
    'To search by name, sign in with a token with the scope "search".';
  const byWords = report.rows.length > 0;
  const rows = byWords
    ? report.rows.map((row) => ({ ...row, history: histories.find(isOf(row)) }))
    : histories.map(asRow);
  return html`<p class="hint" role="status">${searchSentences(report, view.zone).map((each) => html`<bdi>${each}</bdi> `)}</p>
${unmatched && unmatchedPart(unmatched.address, unmatched.reports)}
${section(
  'sent',
  'What was sent',
  html`${agePart(asOf)}
${rows.length === 0 ? html`<p class="empty">${none} ${byName}</p>` : recipientsTable('Recipients, the newest run first', rows, view)}
${!byWords ? pagerPart(search, page, hasMore) : hasMore && html`<p class="note">More rows have these words: add another word.</p>`}`,
)}`;
}

const isOf =
  ({ run, row }: RecipientKey) =>
  (each: RecipientKey): boolean =>
    each.run === run && each.row === row;

function unmatchedPart(address: string, reports: number): Html {
  const [unmatched, inbound] = (['unmatched', 'inbound'] as const).map((state) =>
    deliveryReportsPath('list', { state, address }),
  );
  return html`<p class="note">${reports} of its delivery reports and replies ${reports === 1 ? 'belongs' : 'belong'} to no known message: <a href="${unmatched}">delivery reports</a>, <a href="${inbound}">replies</a>.</p>`;
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
function searchForm({ text, country }: Search, maySearch: boolean, problem?: string): Html {
  const isFaulty = problem !== undefined;
  return html`<search><form method="get" action="/recipients" class="filter">
<div class="field wide"><label for="q">Find a recipient</label>
<span class="hint" id="q-hint">Phone number, e-mail address, MessageID, job number, ChargeCode${maySearch && ', name or other words of its row'}</span>
${isFaulty && html`<span class="error" id="q-error" role="alert">${problem}</span>`}
<input id="q" name="q" type="search" required maxlength="320" value="${text}" autocomplete="off" spellcheck="false" autocapitalize="off" dir="auto" aria-describedby="q-hint${isFaulty && ' q-error'}"${isFaulty && html` aria-invalid="true"`}></div>
<p class="field"><button class="main">Search</button></p>
<details class="field"${country !== undefined && html` open`}><summary>Another country</summary>
${countryField(country, 'Instead of that of the campaigns')}</details>
</form></search>`;
}

/** Two letters, such as NZ. */
export function countryField(country: string | undefined, hint = 'For numbers without +'): Html {
  return textField({
    name: 'country',
    label: 'Country, such as AU',
    value: country,
    hint,
    attributes: html`maxlength="2" pattern="[A-Za-z]{2}" size="4" autocomplete="off"`,
  });
}
