import type { Link } from '../report/column.ts';
import { type RunAction, runActionWords } from '../report/run-action-words.ts';
import type { PageLink } from './base/layout.ts';

/** What is asked of a page. Nothing is asked with an empty text. */
type Query = Readonly<Record<string, string | undefined>>;

export function pathWith(path: string, query: Query): string {
  const asked = new URLSearchParams();
  for (const [name, value = ''] of Object.entries(query)) if (value !== '') asked.set(name, value);
  return asked.size === 0 ? path : `${path}?${asked.toString()}`;
}

/** The address of the same page with other fields in its query. Fields with an empty text are left out. */
export function changedPath(address: string, changes: Query): string {
  const asked = new URLSearchParams(address.replace(/^[^?]*/, ''));
  for (const [name, value = ''] of Object.entries(changes)) {
    if (value === '') asked.delete(name);
    else asked.set(name, value);
  }
  return `${address.replace(/\?.*$/s, '')}?${asked.toString()}`;
}

export function runPath(run: string, page = '', query: Query = {}): string {
  return pathWith(`/runs/${encodeURIComponent(run)}${page === '' ? '' : `/${page}`}`, query);
}

/** The link to an action on a run. Its page asks first. */
export function runActionLink(run: string, action: RunAction): PageLink {
  return { href: runPath(run, action), text: runActionWords[action].verb };
}

/** The address of the page about one recipient of a run. @param row its line, counted from file to file */
export function recipientOfRunPath(run: string, row: number, page = ''): string {
  return runPath(run, `recipients/${row}${page === '' ? '' : `/${page}`}`);
}

/** The address of a search for recipients: by address, MessageID or what else people have. */
export function recipientPath(text: string, query: Query = {}): string {
  return pathWith('/recipients', { q: text, ...query });
}

export function deliveryReportsPath(page: string, query: Query = {}): string {
  return pathWith(`/delivery-reports/${page}`, query);
}

export function campaignPath(file: string, page = ''): string {
  return `/campaigns/${encodeURIComponent(file)}${page === '' ? '' : `/${page}`}`;
}

export function accountPath(account: string, page = ''): string {
  return `/accounts/${encodeURIComponent(account)}${page === '' ? '' : `/${page}`}`;
}

export function runsOfCampaignPath(campaign: string): string {
  return pathWith('/', { campaign });
}

/** Below it are the paths of signing in with the identity provider of a company. */
export const companyPath = '/sign-in/company';

/** Where a person opens the link to their token. Browsers send no server, log or other site what stands after `#`. */
export function tokenLinkPath(secret: string): string {
  return `/sign-in#${secret}`;
}

export function pathOf(link: Link): string {
  switch (link.kind) {
    case 'run':
      return runPath(link.run);
    case 'recipient of run':
      return recipientOfRunPath(link.run, link.row);
    case 'recipient':
      return recipientPath(link.recipient);
    case 'account':
      return accountPath(link.account);
    case 'runs of campaign':
      return runsOfCampaignPath(link.campaign);
    case 'page':
      return link.path;
  }
}

/** A path of this server, such as a form brings it back; the start page for anything else. */
export function ownPath(given: unknown): string {
  const base = 'http://own.invalid';
  if (typeof given !== 'string' || !/^\/(?![/\\])[\x21-\x7e]{0,2000}$/.test(given)) return '/';
  const url = URL.parse(given, base);
  if (url?.origin !== base) return '/';
  // `/..//other.host` becomes `//other.host`, which a browser takes for a host.
  return url.pathname.startsWith('//') ? '/' : `${url.pathname}${url.search}`;
}
