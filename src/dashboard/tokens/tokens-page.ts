import { z } from 'zod';
import { personPattern, tokenNamePattern, tokenScopes } from '../../domain/access.ts';
import { InputError } from '../../domain/problems.ts';
import { countSessionsOf } from '../../engine/access/sessions.ts';
import { createToken, createTokenLink, revokeToken } from '../../engine/access/tokens.ts';
import { listTokens, type Token, tokenStateOf } from '../../ledger/tokens/tokens.ts';
import { duration } from '../../platform/scalars.ts';
import { count } from '../../platform/sentence.ts';
import { cellColumn } from '../../report/column.ts';
import { time } from '../../report/html/cells.ts';
import { type Html, html } from '../../report/html/html.ts';
import { scopeWords, tokenColumns } from '../../report/lists/tokens.ts';
import { requireForm } from '../base/actions.ts';
import { type Fields, linesIn, problemsOf, textIn } from '../base/fields.ts';
import { csrfField, type PageContent } from '../base/layout.ts';
import { sendPage } from '../base/pages.ts';
import { orInputError, problemList } from '../base/problems.ts';
import type { Tools } from '../base/tools.ts';
import { notFound, type View } from '../base/view.ts';
import { linesField, textField } from '../parts/form-fields.ts';
import { listTable } from '../parts/list.ts';
import { tokenLinkPath } from '../paths.ts';

export function addTokensPages({ addPage, addPost, addAction, publicUrl }: Tools): void {
  addPage({ path: '/tokens', ...access }, async (view) => ({
    title: 'Tokens',
    body: listPart(await listTokens(view.context.ledger.pool), view),
  }));
  addPage({ path: '/tokens/new', ...access }, async (view) => newTokenPage(view, {}));
  addPost({ path: '/tokens/new', ...access }, async (view, _asked, reply) => {
    const { request } = reply;
    const fields = requireForm(request, view);
    const address = publicUrl ?? `http://${request.headers.host}`;
    const created = await orInputError(createFrom(view, fields, address));
    if (created instanceof InputError) return sendPage(reply, view, 422, newTokenPage(view, fields, created));
    // Not a redirect: the secret is shown by this answer only, and browsers keep no page.
    return sendPage(reply, view, 200, created);
  });
  addRevoke(addAction);
}

const access = { scope: 'admin', allAccounts: true } as const;

function addRevoke(addAction: Tools['addAction']): void {
  addAction({
    path: '/tokens/:name/revoke',
    ...access,
    ask: async (view, { params }) => {
      const tokens = await listTokens(view.context.ledger.pool);
      const token = tokens.find(({ name }) => name === params['name']);
      if (!token) return notFound('No token has this name.');
      const own = token.name === view.session.name;
      const sessions = await countSessionsOf(view.context, token.name);
      return {
        title: `Revoke the token ${token.name}?`,
        body: html`<p>It belongs to <bdi>${token.owner}</bdi>, and ${token.lastUsedAt ? html`was last used at ${time(token.lastUsedAt, view.zone)}` : 'was never used'}. Calls with it are refused from now on. It cannot be undone.</p>
<p><strong>${count(sessions, 'session')}</strong> of the dashboard ${sessions === 1 ? 'is' : 'are'} open with it${sessions > 0 && html`, and ${sessions === 1 ? 'ends' : 'end'} at once`}.${own && html` <strong>This is the token with which you have signed in: you are signed out.</strong>`} Runs that were started with it go on.</p>`,
        button: 'Revoke the token',
        within: { href: '/tokens', text: 'Tokens' },
      };
    },
    act: async (view, { params }, { reason = '' }) => {
      const name = params['name'] ?? '';
      await revokeToken(view.context, name, reason);
      return { to: '/tokens', notice: `The token ${name} is revoked.` };
    },
  });
}

function listPart(tokens: readonly Token[], view: View): Html {
  const revoke = cellColumn<Token>(
    'Revoke',
    (token) =>
      ['valid', 'link open'].includes(tokenStateOf(token, view.now)) &&
      html`<a href="/tokens/${encodeURIComponent(token.name)}/revoke" aria-label="Revoke ${token.name}">Revoke</a>`,
  );
  const columns = [...tokenColumns(view.now), revoke];
  return html`<p><a class="button" href="/tokens/new">Create a token</a></p>
<p>Neither the owner of a token nor the person who made it approves a run that the other planned. That holds for the tokens that it makes too. It does not stop a person who makes two tokens for two other names and uses both: the audit trail shows that.</p>
${
  tokens.length === 0
    ? html`<p class="empty">There is no token yet.</p>`
    : listTable({ caption: 'Tokens', columns, rows: tokens, id: 'tokens' }, view)
}`;
}

const account = z.string().regex(personPattern, 'Expected the name of an account on each line.');

const tokenForm = z.object({
  name: z
    .string()
    .regex(tokenNamePattern, 'Expected at most 64 letters, digits, dots, hyphens and underscores.'),
  owner: z.string().regex(personPattern, 'Expected the name of a person, of at most 200 characters.'),
  scope: z.enum(tokenScopes, { error: `Expected one of ${tokenScopes.join(', ')}.` }),
  expires: z
    .number({ error: 'Expected a time such as 90d or 12h, or never.' })
    .refine((milliseconds) => milliseconds > 0, { error: 'Expected a time above 0, or never.' })
    .nullable(),
  accounts: z.array(account).transform((names) => (names.length === 0 ? null : names)),
});

/**
 * Creates the token that the form describes.
 *
 * @param address of the dashboard, without a slash at the end
 * @returns the only page that shows the secret: it is the answer to the form, and browsers keep it nowhere
 * @throws InputError with a problem for each field that has one
 */
async function createFrom(
  { context, now, zone }: View,
  fields: Fields,
  address: string,
): Promise<PageContent> {
  const [name, owner, scope] = ['name', 'owner', 'scope'].map((field) => textIn(fields, field));
  const lifetime = textIn(fields, 'expires');
  const expires = lifetime === 'never' ? null : duration.safeParse(lifetime).data;
  const parsed = tokenForm.safeParse({ name, owner, scope, expires, accounts: linesIn(fields, 'accounts') });
  if (!parsed.success)
    throw new InputError(Object.entries(problemsOf(parsed.error)).map(([where, what]) => ({ where, what })));
  const { expires: milliseconds, ...token } = parsed.data;
  const expiresAt = milliseconds === null ? null : new Date(now.getTime() + milliseconds);
  const request = { ...token, expiresAt };
  if (fields['as'] !== 'link')
    return secretPage(`The token ${token.name}`, await createToken(context, request), forPrograms);
  const { secret, expiresAt: until } = await createTokenLink(context, request);
  const what = html`<p>Send it to <bdi>${token.owner}</bdi>. It works once, until ${time(until, zone)}. If it is not used, create another with the same name.</p>
${address.startsWith('http:') && html`<p class="banner">The link has the address of this page. If others reach the dashboard at another one, set VOLLEY_DASHBOARD_URL.</p>`}`;
  return secretPage(`The link for ${token.owner}`, address + tokenLinkPath(secret), what);
}

const forPrograms = html`<p>Give it to its owner in a safe way. It signs them in here, and programs send it to the API as <code>Authorization: Bearer</code>. If it is lost, revoke it and create another.</p>`;

function newTokenPage(view: View, fields: Fields, error?: InputError): PageContent {
  const value = (name: string, otherwise = ''): string => textIn(fields, name) || otherwise;
  const problemOf = (name: string): string | undefined =>
    error?.problems.find(({ where }) => where === name)?.what;
  const field = (name: string, label: string, hint: string, given: string): Html =>
    textField({
      name,
      label,
      value: given,
      hint,
      problem: problemOf(name),
      attributes: html`required autocomplete="off" dir="auto"`,
    });
  return {
    title: 'Create a token',
    within: { href: '/tokens', text: 'Tokens' },
    body: html`${
      error &&
      problemList(
        'No token was created',
        error.problems.map(({ what }) => what),
      )
    }
<form method="post" action="/tokens/new">
${csrfField(view)}
${field('name', 'Name', 'For lists and the audit trail. No other token can have it later.', value('name'))}
${field('owner', 'Owner', 'The person it stands for. Neither they nor you approve what the other planned.', value('owner'))}
<fieldset><legend>Scope</legend>
${tokenScopes.map(
  (scope) =>
    html`<p><label class="choose"><input type="radio" name="scope" value="${scope}" required${value('scope', 'read') === scope && html` checked`}> <span><strong>${scope}</strong>: ${scopeWords[scope]}</span></label></p>`,
)}
</fieldset>
${linesField({
  name: 'accounts',
  label: 'Accounts',
  values: linesIn(fields, 'accounts'),
  hint: 'One on each line; nothing: all accounts. A token for some accounts sees neither the audit trail nor tokens.',
  problem: problemOf('accounts'),
})}
${field('expires', 'Expires after', 'A time such as 90d or 12h, or never.', value('expires', '90d'))}
<p>A program needs the token itself, which you copy. A person gets it by a link, which works once and within 24 hours: you never see it.</p>
<p class="buttons"><button>Create the token</button> <button name="as" value="link">Create a link for the owner</button> <a href="/tokens">Go back</a></p>
</form>`,
  };
}

function secretPage(title: string, secret: string, what: Html): PageContent {
  return {
    title,
    within: { href: '/tokens', text: 'Tokens' },
    body: html`<p class="notice" role="status">Copy this now: it is not shown again.</p>
<p class="secret"><code>${secret}</code></p>
${what}`,
  };
}
