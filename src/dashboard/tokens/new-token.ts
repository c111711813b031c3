import { personPattern, tokenNamePattern, tokenScopes } from '../../domain/access.ts';
import { InputError, type Problem } from '../../domain/problems.ts';
import { createToken } from '../../engine/access/tokens.ts';
import { duration } from '../../platform/scalars.ts';
import { type Html, html } from '../../report/html/html.ts';
import { type Fields, linesIn, textIn } from '../base/fields.ts';
import { csrfField, type PageContent, problemList } from '../base/layout.ts';
import type { View } from '../base/view.ts';
import { textField } from '../parts/form-fields.ts';

/**
 * Creates the token that the form describes.
 *
 * @returns its secret
 * @throws InputError with a problem for each field that has one
 */
export async function createFrom({ context, now }: View, fields: Fields): Promise<string> {
  const [name, owner, expires] = [textIn(fields, 'name'), textIn(fields, 'owner'), textIn(fields, 'expires')];
  const scope = tokenScopes.find((each) => each === textIn(fields, 'scope'));
  const lifetime = duration.safeParse(expires);
  const accounts = linesIn(fields, 'accounts');
  const problems: Problem[] = [];
  if (!tokenNamePattern.test(name))
    problems.push({
      where: 'name',
      what: 'Expected at most 64 letters, digits, dots, hyphens and underscores.',
    });
  if (!personPattern.test(owner))
    problems.push({ where: 'owner', what: 'Expected the name of a person, of at most 200 characters.' });
  if (scope === undefined)
    problems.push({ where: 'scope', what: `Expected one of ${tokenScopes.join(', ')}.` });
  if (expires !== 'never' && !(lifetime.success && lifetime.data > 0))
    problems.push({ where: 'expires', what: 'Expected a time such as 90d or 12h, or never.' });
  if (accounts.some((account) => !personPattern.test(account)))
    problems.push({ where: 'accounts', what: 'Expected the name of an account on each line.' });
  if (scope === undefined || problems.length > 0) throw new InputError(problems);
  return createToken(context, {
    name,
    owner,
    scope,
    accounts: accounts.length === 0 ? null : accounts,
    expiresAt: lifetime.success ? new Date(now.getTime() + lifetime.data) : null,
  });
}

export function newTokenPage(view: View, fields: Fields, error?: InputError): PageContent {
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
  const accountProblem = problemOf('accounts');
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
${field('name', 'Name', 'For lists and the audit trail. A name cannot be used again.', value('name'))}
${field('owner', 'Owner', 'The person it stands for. Neither they nor you approve what the other planned.', value('owner'))}
<fieldset><legend>Scope</legend>
${tokenScopes.map(
  (scope) =>
    html`<p><label class="choose"><input type="radio" name="scope" value="${scope}" required${value('scope', 'read') === scope && html` checked`}> <span><strong>${scope}</strong>: ${scopeWords[scope]}</span></label></p>`,
)}
</fieldset>
<div class="field"><label for="accounts">Accounts</label><span class="hint" id="accounts-hint">One on each line; nothing: all accounts. A token for some accounts sees neither the audit trail nor tokens.</span>
${accountProblem !== undefined && html`<span class="error" id="accounts-error">${accountProblem}</span>`}
<textarea id="accounts" name="accounts" rows="3" aria-describedby="accounts-hint${accountProblem !== undefined && html` accounts-error`}">${linesIn(
      fields,
      'accounts',
    ).map(
      (line) => html`${line}
`,
    )}</textarea></div>
${field('expires', 'Expires after', 'A time such as 90d or 12h, or never.', value('expires', '90d'))}
<p class="buttons"><button>Create the token</button> <a href="/tokens">Go back</a></p>
</form>`,
  };
}

const scopeWords = {
  read: 'lists, status and reports',
  run: 'also start, pause, resume and cancel',
  approve: 'also approve runs that another person planned',
  admin: 'also resolve doubts, set limits, and see the audit trail and tokens',
} as const;

/** The only page that shows the secret: it is the answer to the form, and browsers keep it nowhere. */
export function createdPage(name: string, token: string): PageContent {
  return {
    title: `The token ${name}`,
    within: { href: '/tokens', text: 'Tokens' },
    body: html`<p class="notice" role="status">The token is created. Copy it now: it is not shown again.</p>
<p class="secret"><code>${token}</code></p>
<p>Give it to its owner in a safe way. It signs them in here, and programs send it to the API as <code>Authorization: Bearer</code>. If it is lost, revoke it and create another.</p>`,
  };
}
