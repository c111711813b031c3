import { type Html, html } from '../../report/html/html.ts';
import { assets } from './assets.ts';
import type { View } from './view.ts';

export type PageContent = {
  readonly title: string;
  readonly body?: Html;
  /** The part that changes while it is looked at, and the path of the stream with its changes. */
  readonly live?: { readonly body: Html; readonly from: string };
  /** The page that this one belongs to: a link above the heading. */
  readonly within?: PageLink;
  /** What stands below the live part. */
  readonly end?: Html | undefined;
  readonly policy?: string | undefined;
  readonly cookie?: { readonly name: string; readonly value: string } | undefined;
  /** Seconds after which the browser asks again. */
  readonly refresh?: number;
};

export type PageLink = { readonly href: string; readonly text: string };

const cellsSection = { href: '/cells', text: 'Cells', admin: true } as const;

const sections: readonly { readonly href: string; readonly text: string; readonly admin?: true }[] = [
  { href: '/', text: 'Runs' },
  { href: '/recipients', text: 'Recipients' },
  { href: '/campaigns', text: 'Campaigns' },
  { href: '/delivery-reports', text: 'Delivery reports' },
  { href: '/accounts', text: 'Accounts' },
  { href: '/billing', text: 'Billing' },
  { href: '/audit', text: 'Audit', admin: true },
  { href: '/tokens', text: 'Tokens', admin: true },
  { href: '/health', text: 'Health' },
  cellsSection,
];

/** The section that a path belongs to. Runs have the start page. */
function isCurrent(href: string, path: string): boolean {
  if (href === '/') return path === '/' || path.startsWith('/runs');
  return path === href || path.startsWith(`${href}/`);
}

/** @param view undefined before the person has signed in */
export function formatPage(
  { title, body, live, end, within, refresh }: PageContent,
  view: View | undefined,
  notice: string | undefined,
  hasCells: boolean,
): string {
  return html`<!doctype html>
<html lang="en"${view?.isZoneKnown === false && html` data-zone="unknown"`}>
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta name="htmx-config" content="${htmxSettings}">
${refresh !== undefined && refreshTag(refresh, live !== undefined)}
<title>${title} – Volley</title>
<link rel="icon" href="${assets.icon}">
<link rel="stylesheet" href="${assets.style}">
<script src="${assets.script}" defer></script>
</head>
<body>
<a class="skip" href="#main">Skip to the content</a>
<header class="top"><a class="brand" href="/">Volley</a>${view && [menuButton, navigation(view, hasCells), zonePart(view), person(view)]}</header>
<main id="main" tabindex="-1">
${within && html`<p class="within"><a href="${within.href}">${within.text}</a></p>`}
<h1 dir="auto">${title}</h1>
${notice !== undefined && html`<p class="notice" role="status">${notice}</p>`}
<p class="banner" id="lost" role="alert" hidden>Volley does not answer. The figures below are from before. This page goes on by itself when Volley answers.</p>
${body}
${live && html`<div id="live" hx-sse:connect="${live.from}" hx-sse:close="ended" hx-target="this" hx-swap="innerMorph">${live.body}</div>`}
${end}
</main>
</body>
</html>
`.text;
}

/** A page with a stream asks again by itself only where there is no script to read the stream. */
function refreshTag(seconds: number, hasStream: boolean): Html {
  const tag = html`<meta http-equiv="refresh" content="${seconds}">`;
  return hasStream ? html`<noscript>${tag}</noscript>` : tag;
}

/** Nothing is styled or run from within the page, no error page replaces figures, and a stream is tried again every few seconds. */
const htmxSettings = JSON.stringify({
  includeIndicatorCSS: false,
  noSwap: [204, 304, '4xx', '5xx'],
  sse: { reconnectDelay: 500, reconnectMaxDelay: 3_000 },
});

/** On a narrow screen, the sections and the person stand behind it: a `details` without content opens what follows it. */
const menuButton = html`<details class="fold menu"><summary>Menu</summary></details>`;

function navigation({ mayAdmin, address }: View, hasCells: boolean): Html {
  const path = address.replace(/\?.*$/s, '');
  const links = sections
    .filter((one) => (!one.admin || mayAdmin) && (one !== cellsSection || hasCells))
    .map(
      ({ href, text }) =>
        html`<li><a href="${href}"${isCurrent(href, path) && html` aria-current="${path === href ? 'page' : 'true'}"`}>${text}</a></li>`,
    );
  return html`<nav aria-label="Sections"><ul>${links}</ul></nav>`;
}

/** The zone of the times of the page, and a click to UTC or back. */
function zonePart(view: View): Html {
  const { zone, ownZone, address } = view;
  const other = zone === 'UTC' ? ownZone : 'UTC';
  const change = html`<form method="post" action="/zone">${csrfField(view)}<input type="hidden" name="to" value="${address}"><button class="plain" name="zone" value="${other}">Show ${other}</button></form>`;
  return html`<div class="zone"><span>Times: <a href="/zone?${new URLSearchParams({ to: address }).toString()}">${zone}</a></span>${zone !== other && change}</div>`;
}

function person(view: View): Html {
  const { session } = view;
  return html`<form class="person" method="post" action="/sign-out">${csrfField(view)}<a href="/sessions"><bdi>${session.owner}</bdi></a> <small>(${session.scope})</small> <button class="plain">Sign out</button></form>`;
}

/** Every form that changes something has it. */
export function csrfField({ csrfToken }: View): Html {
  return html`<input type="hidden" name="csrf" value="${csrfToken()}">`;
}
