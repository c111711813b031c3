/** The address of a page about a run. */
export function runPath(run: string, page = '', query: Readonly<Record<string, string>> = {}): string {
  const asked = new URLSearchParams(query).toString();
  const path = `/runs/${encodeURIComponent(run)}${page === '' ? '' : `/${page}`}`;
  return asked === '' ? path : `${path}?${asked}`;
}

/** The address of the page about a recipient: by MessageID or address. */
export function recipientPath(text: string, query: Readonly<Record<string, string>> = {}): string {
  return `/recipients?${new URLSearchParams({ q: text, ...query }).toString()}`;
}

/** The address of a page about delivery reports. */
export function deliveryReportsPath(page: string, query: Readonly<Record<string, string>> = {}): string {
  const asked = new URLSearchParams(query).toString();
  return asked === '' ? `/delivery-reports/${page}` : `/delivery-reports/${page}?${asked}`;
}

/** The address of a page about a campaign file. */
export function campaignPath(file: string, page = ''): string {
  return `/campaigns/${encodeURIComponent(file)}${page === '' ? '' : `/${page}`}`;
}

/** The address of a page about an account. */
export function accountPath(account: string, page = ''): string {
  return `/accounts/${encodeURIComponent(account)}${page === '' ? '' : `/${page}`}`;
}

/** The address of the list of runs of a campaign. */
export function runsOfCampaignPath(campaign: string): string {
  return `/?${new URLSearchParams({ campaign }).toString()}`;
}
