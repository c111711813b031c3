import type { SuppressionSource } from '../../domain/suppressions.ts';
import type { OwnAccounts } from '../../engine/suppressions/own-suppressions.ts';
import type { PagedSuppression, SuppressionPlace } from '../../ledger/suppressions/page.ts';
import { type Html, html } from '../../report/html/html.ts';
import type { View, Viewer } from '../base/view.ts';
import { longText } from '../parts/long-text.ts';
import { type TableColumn, table, time } from '../parts/parts.ts';
import { recipientPath, runPath } from '../paths.ts';

type SuppressionsOfAddress = {
  readonly address: string;
  readonly found: readonly PagedSuppression[];
  readonly own: OwnAccounts;
};

/** Whether an address is suppressed, by whom and why, with what the person may do about it. */
export function suppressionsPart({ address, found, own }: SuppressionsOfAddress, view: View): Html {
  const add = `/suppressions/add?${new URLSearchParams({ address }).toString()}`;
  return html`<section aria-labelledby="suppressed-title" id="suppressed">
<h2 id="suppressed-title">${found.length === 0 ? 'Not suppressed' : 'Suppressed'}</h2>
${
  found.length === 0
    ? html`<p>Nothing keeps runs from sending to <bdi>${address}</bdi>.</p>`
    : suppressionTable(`Suppressions of ${address} (${view.zone})`, found, { view, own })
}
<p class="links">${view.mayRun && html`<a class="button" href="${add}">Suppress this address</a>`}<a href="/suppressions">All suppressions</a></p>
</section>`;
}

type Owner = { readonly view: View; readonly own: Pick<OwnAccounts, 'sources'> };

export function suppressionTable(
  caption: string,
  suppressions: readonly PagedSuppression[],
  { view, own }: Owner,
): Html {
  const removable = suppressions.some((each) => mayRemove(view, own, each));
  const columns: TableColumn<PagedSuppression>[] = [
    {
      title: 'Address',
      cell: ({ address }) =>
        address.startsWith('hash ') ? address : html`<a href="${recipientPath(address)}">${address}</a>`,
    },
    { title: 'Channel', cell: ({ channel }) => channel },
    { title: 'Account', cell: ({ account }) => account || 'all' },
    { title: 'SubAccount', cell: ({ subAccount }) => subAccount || 'all' },
    { title: 'Who', isLong: true, cell: who },
    { title: 'Why', isLong: true, cell: why },
    { title: 'Since', cell: ({ createdAt }) => time(createdAt, view.zone) },
  ];
  if (removable)
    columns.push({
      title: 'Action',
      cell: (each) => mayRemove(view, own, each) && removeLink(each),
    });
  return table(caption, columns, suppressions);
}

/** One that applies to all accounts belongs to people who may see all. */
export function mayRemove(
  { mayAdmin }: Pick<Viewer, 'mayAdmin'>,
  { sources }: Pick<OwnAccounts, 'sources'>,
  { account }: SuppressionPlace,
): boolean {
  return mayAdmin && (sources === null || sources.includes(account));
}

function removeLink({ channel, address, account, subAccount }: SuppressionPlace): Html {
  const asked = new URLSearchParams({ channel, address, account, subAccount }).toString();
  return html`<a href="/suppressions/remove?${asked}" aria-label="Unsuppress ${address} for ${channel}">Unsuppress</a>`;
}

const sourceWords: Readonly<Record<SuppressionSource, string>> = {
  operator: 'an operator',
  import: 'an imported list',
  reply: 'the recipient, by reply',
  report: 'the service, by a delivery report',
};

function who({ by, source }: PagedSuppression): Html {
  if (!by) return html`${sourceWords[source]}`;
  return html`<bdi>${by}</bdi>${source === 'import' && ', with a list'}`;
}

function why({ reason, run }: PagedSuppression): Html {
  return html`${reason !== '' && longText(reason)}${run && html` in run <a href="${runPath(run)}">${run}</a>`}`;
}
