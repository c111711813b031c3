import { endOwnSession, listOwnSessions, type OwnSession, sessionKey } from '../../engine/access/sessions.ts';
import { type Columns, cellColumn, textColumn, timeColumn } from '../../report/column.ts';
import { time } from '../../report/html/cells.ts';
import { html } from '../../report/html/html.ts';
import type { Tools } from '../base/tools.ts';
import { notFound, type View } from '../base/view.ts';
import { listTable } from '../parts/list.ts';

const within = { href: '/sessions', text: 'Your sessions' };

export function addSessionsPages({ addPage, addAction }: Tools): void {
  addPage({ path: '/sessions', scope: 'read' }, async (view) => ({
    title: 'Your sessions',
    body: html`<p>You are signed in with these sessions. End one that you do not know, and revoke its token.</p>
${listTable(
  {
    caption: 'Sessions',
    columns: columnsOf(view),
    rows: await listOwnSessions(view.context),
    id: 'sessions',
  },
  view,
)}`,
  }));
  addAction({
    path: '/sessions/:session/end',
    scope: 'read',
    needsReason: () => false,
    ask: async (view, { params }) => {
      const session = (await listOwnSessions(view.context)).find(({ key }) => key === params['session']);
      if (!session) return notFound('There is no such session of yours. It may have ended.');
      return {
        title: 'End this session?',
        body: html`<p>It was opened with the token ${session.token} at ${time(session.createdAt, view.zone)}, and last used at ${time(session.usedAt, view.zone)}.${isCurrent(view, session) && html` <strong>It is the session of this browser: you are signed out.</strong>`} Runs that were started in it go on.</p>`,
        button: 'End the session',
        within,
      };
    },
    act: async (view, { params }) => {
      const token = await endOwnSession(view.context, params['session'] ?? '');
      return { to: within.href, notice: `The session of ${token} is ended.` };
    },
  });
}

function columnsOf(view: View): Columns<OwnSession> {
  return [
    textColumn('token', 'Token'),
    timeColumn('createdAt', 'Signed in'),
    timeColumn('usedAt', 'Last used'),
    cellColumn('End', (session) =>
      isCurrent(view, session)
        ? 'this browser'
        : html`<a href="/sessions/${session.key}/end" aria-label="End the session of ${session.token}">End</a>`,
    ),
  ];
}

function isCurrent({ sessionId }: View, { key }: OwnSession): boolean {
  return key === sessionKey(sessionId);
}
