import type { BrowserContext } from 'playwright-core';
import { addDashboard } from '../../src/dashboard/dashboard.ts';
import type { TokenScope } from '../../src/domain/access.ts';
import { createToken } from '../../src/engine/access/tokens.ts';
import { loadAccount } from '../../src/engine/load-account.ts';
import { openLogger } from '../../src/platform/logger.ts';
import { startApi } from '../../src/server/api/api.ts';
import { signIn, type Visitor } from './dashboard-scene.ts';
import { openTestLedger, type TestLedger } from './ledger.ts';
import { ownAddress, ownName } from './localhost-names.ts';

export type Session = {
  readonly owner: string;
  readonly scope: TokenScope;
  readonly accounts: readonly string[] | null;
};

export type Scene = {
  readonly opened: TestLedger;
  readonly url: string;
  /** Signs in again; otherwise as ann, with the scope admin and all accounts. */
  readonly as: (session: Partial<Session>) => Promise<void>;
  /** Asks with the cookies of the session, without following redirects. */
  readonly ask: (path: string, init?: RequestInit) => Promise<Response>;
  /** For a form of the session. */
  readonly csrfToken: () => Promise<string>;
  readonly close: () => Promise<void>;
};

/** The dashboard at another time than now, on a ledger that the test fills. */
export async function openScene(now: Date, browser: () => BrowserContext): Promise<Scene> {
  const opened = await openTestLedger();
  const context = { ...opened.context, now: () => now };
  const settings = { environment: {}, workingFolder: '/' };
  const accountNamed = (name: string) => loadAccount(name, settings);
  const { url: listener, close } = await startApi(context, {
    host: '127.0.0.1',
    port: 0,
    api: undefined,
    addPages: (server, limits) =>
      addDashboard(server, context, {
        host: '127.0.0.1',
        publicUrl: undefined,
        ownName,
        scheduleSource: { folder: 'campaigns', settings, accountNamed },
        startRun: async () => ({ kind: 'under way' }),
        limits,
        logger: openLogger('silent', 'info'),
      }),
  });
  const url = ownAddress(listener);
  let visitor: Visitor;
  let tokens = 0;
  const ask: Scene['ask'] = (path, init = {}) =>
    fetch(`${url}${path}`, {
      redirect: 'manual',
      ...init,
      headers: { cookie: visitor.cookies(), origin: url, ...init.headers },
    });
  return {
    opened,
    url,
    ask,
    as: async (changes) => {
      const session = { owner: 'ann', scope: 'admin', accounts: null, ...changes } as const;
      const asked = { ...session, name: `token ${++tokens}`, expiresAt: null };
      visitor = await signIn(url, await createToken(context, asked));
      const cookies = visitor.cookies().split('; ');
      await browser().addCookies(
        cookies.map((cookie) => ({
          name: cookie.replace(/=.*/, ''),
          value: cookie.replace(/^.*?=/, ''),
          url,
        })),
      );
    },
    csrfToken: async () => {
      const page = await (await ask('/zone')).text();
      return /name="csrf" value="([^"]+)"/.exec(page)?.[1] ?? '';
    },
    close: async () => {
      await close();
      await opened.close();
    },
  };
}
