import type { OwnAccounts } from '../../engine/suppressions/own-suppressions.ts';
import type { PagedSuppression } from '../../ledger/suppressions/list.ts';
import { type Columns, cellColumn, pickColumns } from '../../report/column.ts';
import { type Html, html } from '../../report/html/html.ts';
import { suppressionColumns } from '../../report/lists/suppressions.ts';
import type { View, Viewer } from '../base/view.ts';
import { listTable } from '../parts/list.ts';
import { pathWith } from '../paths.ts';

type SuppressionsOfAddress = {
  readonly address: string;
  readonly found: readonly PagedSuppression[];
  readonly own: OwnAccounts;
};

/** Whether an address is suppressed, by whom and why, with what the person may do about it. */
export function suppressionsPart({ address, found, own }: SuppressionsOfAddress, view: View): Html {
  const add = pathWith('/suppressions/add', { address });
  return html`<section aria-labelledby="suppressed-title" id="suppressed">
<h2 id="suppressed-title">${found.length === 0 ? 'Not suppressed' : 'Suppressed'}</h2>
${
  found.length === 0
    ? html`<p>Nothing keeps runs from sending to <bdi>${address}</bdi>.</p>`
    : listTable(
        {
          caption: `Suppressions of ${address}`,
          columns: suppressionColumnsFor(found, { view, own }),
          rows: found,
        },
        view,
      )
}
<p class="links">${view.mayRun && html`<a class="button" href="${add}">Suppress this address</a>`}<a href="/suppressions">All suppressions</a></p>
</section>`;
}

type Owner = { readonly view: View; readonly own: Pick<OwnAccounts, 'sources'> };

/** The columns of suppressions, with a link where the person may remove one of them. */
export function suppressionColumnsFor(
  suppressions: readonly PagedSuppression[],
  { view, own }: Owner,
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
