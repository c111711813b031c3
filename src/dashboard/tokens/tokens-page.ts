import type { FastifyInstance } from 'fastify';
import { InputError } from '../../domain/problems.ts';
import { countSessionsOf } from '../../engine/access/sessions.ts';
import { revokeToken } from '../../engine/access/tokens.ts';
import { listTokens, type Token } from '../../ledger/tokens/tokens.ts';
import { count } from '../../platform/sentence.ts';
import { cellColumn } from '../../report/column.ts';
import { time } from '../../report/html/cells.ts';
import { type Html, html } from '../../report/html/html.ts';
import { tokenColumns, tokenStateOf } from '../../report/lists/tokens.ts';
import { addAction, requireForm } from '../base/actions.ts';
import { sendPage } from '../base/answer.ts';
import { textIn } from '../base/fields.ts';
import { addPage } from '../base/pages.ts';
import { notFound, requireAllAccounts, requireScope, type View, viewOf } from '../base/view.ts';
import { listTable } from '../parts/list.ts';
import { createdPage, createFrom, newTokenPage } from './new-token.ts';

/** Tokens of the API, with which people also sign in. */
export function addTokensPages(server: FastifyInstance): void {
  addPage(server, { path: '/tokens', scope: 'admin' }, async (view) => {
    requireAllAccounts(view);
    return { title: 'Tokens', body: listPart(await listTokens(view.context.ledger.pool), view) };
  });
  addPage(server, { path: '/tokens/new', scope: 'admin' }, async (view) => {
    requireAllAccounts(view);
    return newTokenPage(view, {});
  });
  server.post('/tokens/new', async (request, reply) => {
    const view = viewOf(request);
    const fields = requireForm(request, view);
    requireScope(view, 'admin');
    requireAllAccounts(view);
    try {
      const token = await createFrom(view, fields);
      // Not a redirect: the secret is shown by this answer only, and browsers keep no page.
      return await sendPage(reply, view, 200, createdPage(textIn(fields, 'name'), token));
    } catch (error) {
      if (!(error instanceof InputError)) throw error;
      return sendPage(reply, view, 422, newTokenPage(view, fields, error));
    }
  });
  addRevoke(server);
}

function addRevoke(server: FastifyInstance): void {
  addAction(
    server,
    { path: '/tokens/:name/revoke', scope: 'admin' },
    {
      ask: async (view, { params }) => {
        requireAllAccounts(view);
        const tokens = await listTokens(view.context.ledger.pool);
        const token = tokens.find(({ name }) => name === params['name']);
        if (!token) return notFound('There is no such token.');
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
        requireAllAccounts(view);
        const name = params['name'] ?? '';
        await revokeToken(view.context, name, reason);
        return { to: '/tokens', notice: `The token ${name} is revoked.` };
      },
    },
  );
}

function listPart(tokens: readonly Token[], view: View): Html {
  const revoke = cellColumn<Token>(
    'Revoke',
    (token) =>
      tokenStateOf(token, view.now) === 'valid' &&
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
