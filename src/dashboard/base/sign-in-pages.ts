import type { SignedIn } from '../../engine/access/sessions.ts';
import type { TokenLink } from '../../engine/access/tokens.ts';
import type { Token } from '../../ledger/tokens/tokens.ts';
import { time } from '../../report/html/cells.ts';
import { type Html, html, type Part } from '../../report/html/html.ts';
import { scopeWords } from '../../report/lists/tokens.ts';
import { textField } from '../parts/form-fields.ts';
import { companyPath, pathWith } from '../paths.ts';
import type { PageContent } from './layout.ts';
import { problemList } from './problems.ts';

/**
 * The dashboard's script sends the form of the link with what stands after the `#` of the address.
 *
 * @param companyAt the dashboard's address, if people sign in with the identity provider of their company
 */
export function signInPage(
  to: string,
  problem: Part | undefined,
  companyAt: string | undefined,
): PageContent {
  return {
    title: 'Sign in',
    body: html`${problem !== undefined && problemList('You are not signed in', [problem])}
${companyAt !== undefined && html`<p><a class="button" href="${companyAt}${pathWith(companyPath, { to })}">Sign in with your company's account</a></p>`}
<form method="post" action="/sign-in">
<input type="hidden" name="to" value="${to}">
${nameField('', html`autocapitalize="none" spellcheck="false"`, 'Only for your password manager; it can stay empty.')}
${textField({
  name: 'token',
  label: 'Your token',
  value: '',
  hint: 'It begins with volley_. Its scope decides what you may do here.',
  attributes: html`type="password" required autocomplete="current-password" autocapitalize="none" spellcheck="false"`,
})}
<p class="buttons"><button>Sign in</button></p>
</form>
<details id="by-link"><summary>You have got a link to your token</summary>
<form method="post" action="/sign-in/link">
${textField({
  name: 'link',
  label: 'The link',
  value: '',
  attributes: html`required maxlength="500" autocomplete="off" autocapitalize="none" spellcheck="false"`,
})}
<p class="buttons"><button>Open the link</button></p>
</form></details>`,
  };
}

/** For whom the token is, and what it allows. Only its button uses the link up. */
export function linkPage(token: Token, secret: string, zone: string): PageContent {
  const { owner, scope, accounts, madeBy, expiresAt } = token;
  return {
    title: `A token for ${owner}`,
    body: html`<p><bdi>${madeBy}</bdi> made it for <bdi>${owner}</bdi>. It allows <strong>${scope}</strong> (${scopeWords[scope]}) for ${accounts ? html`<bdi>${accounts.join(', ')}</bdi>` : 'all accounts'}, until ${expiresAt ? time(expiresAt, zone) : 'it is revoked'}.</p>
<p>The audit trail shows this name beside what you do. Go on only if it is yours. The link works once: the next page shows the token.</p>
<form method="post" action="/sign-in/link">
<input type="hidden" name="link" value="${secret}">
<p class="buttons"><button name="use" value="true">Sign in as ${owner}</button></p>
</form>`,
  };
}

export function linkProblem(link: TokenLink | undefined, zone: string): Part {
  if (!link) return 'There is no such link. Copy all of it.';
  const { name, madeBy, linkUsedAt } = link.token;
  const maker = html`<bdi>${madeBy}</bdi>`;
  if (linkUsedAt)
    return html`The link works once, and was used at ${time(linkUsedAt, zone)}. If it was not you, ask ${maker} at once to revoke the token ${name}.`;
  return html`The link ${link.state === 'revoked' ? 'was revoked' : 'has expired'}. Ask ${maker} for another.`;
}

/** Why the token that is for a person of the company does not sign them in. */
export function companyProblem({ person, token }: Required<SignedIn>, state: string): Part {
  return html`You are <bdi>${person}</bdi>. The token for you, ${token}, is ${state}. Ask an administrator.`;
}

/** Its form is that of signing in, so that a password manager offers to keep the token. */
export function tokenPage({ name, owner }: Token, text: string): PageContent {
  return {
    title: 'Keep your token',
    body: html`<p class="notice" role="status">This is the token of <bdi>${owner}</bdi>. Keep it in your password manager: it is not shown again.</p>
<form method="post" action="/sign-in">
${nameField(name, html`readonly`)}
${textField({
  name: 'token',
  label: 'Your token',
  value: text,
  attributes: html`type="password" readonly autocomplete="new-password"`,
})}
<details><summary>Show the token</summary><p class="secret"><code>${text}</code></p></details>
<p class="buttons"><button>Go on</button></p>
</form>`,
  };
}

/** Password managers keep a token under this name. Volley does not read it. */
function nameField(value: string, attributes: Html, hint?: string): Html {
  const all = html`autocomplete="username" dir="auto" ${attributes}`;
  return textField({ name: 'username', label: 'Name', value, attributes: all, ...(hint && { hint }) });
}
