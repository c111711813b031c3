import { setTimeout as sleep } from 'node:timers/promises';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import type { TokenScope } from '../../src/domain/access.ts';
import { createToken } from '../../src/engine/access/tokens.ts';
import type { SandboxOptions } from '../../src/sandbox/options.ts';
import { type Sandbox, startSandbox } from '../../src/sandbox/sandbox.ts';
import { closePages, openBrowser } from './browser.ts';
import { openTestLedger, type TestLedger } from './ledger.ts';
import './localhost-names.ts';
import { type Ended, startInProcess, volleyInProcess } from './volley.ts';
import {
  accountEnvironment,
  accountsYaml,
  contactsCsv,
  makeWorkspace,
  smsCampaignYaml,
  type Workspace,
} from './workspace.ts';

export type PageAnswer = {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
};

/** A signed-in person without a browser, such as one whose browser has no JavaScript. */
export type Visitor = {
  readonly cookies: () => string;
  readonly get: (path: string, headers?: Readonly<Record<string, string>>) => Promise<PageAnswer>;
  /** Opens the form at the path, and sends it with these fields besides its own. Does not follow the redirect. */
  readonly send: (path: string, fields: Readonly<Record<string, string>>) => Promise<PageAnswer>;
  /** Sends exactly this. */
  readonly post: (
    path: string,
    fields: Readonly<Record<string, string>>,
    headers?: Readonly<Record<string, string>>,
  ) => Promise<PageAnswer>;
};

export type DashboardScene = AsyncDisposable & {
  readonly url: string;
  /** At which the receiver takes delivery reports of the first account. */
  readonly webhookUrl: string;
  readonly opened: TestLedger;
  readonly sandbox: Sandbox;
  readonly workspace: Workspace;
  readonly environment: Readonly<Record<string, string>>;
  /** Runs a command in the workspace, in this process. */
  readonly command: (words: readonly string[]) => Promise<Ended>;
  readonly tokenOf: (scope: TokenScope, asked?: TokenOptions) => Promise<string>;
  readonly visitor: (scope: TokenScope, asked?: TokenOptions) => Promise<Visitor>;
  /** Signed in, with a page open at the path. */
  readonly browse: (path: string, asked?: BrowseOptions) => Promise<Page>;
};

export type TokenOptions = {
  readonly owner?: string;
  readonly accounts?: readonly string[];
  readonly expiresAt?: Date;
};

export type BrowseOptions = TokenOptions & {
  /** Instead of a new one. */
  readonly token?: string;
  readonly scope?: TokenScope;
  readonly width?: number;
  readonly height?: number;
  readonly javaScript?: boolean;
  /** The zone of the browser; that of this machine if undefined. */
  readonly zone?: string;
};

export type SceneOptions = {
  readonly files?: Readonly<Record<string, string>>;
  readonly sandbox?: SandboxOptions;
  /** Of `volley serve`; by default it also works. */
  readonly words?: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
  /** The clock of `volley serve`. */
  readonly now?: () => Date;
};

const webhookToken = 'a-long-secret-webhook-token';

/** A ledger, a sandbox, and `volley serve` with its dashboard, receiver, API and worker. */
export async function openDashboardScene({
  files = {},
  sandbox: sandboxOptions = {},
  words = [],
  environment: others = {},
  now = () => new Date(),
}: SceneOptions = {}): Promise<DashboardScene> {
  await using opening = new AsyncDisposableStack();
  const opened = opening.adopt(await openTestLedger(), (it) => it.close());
  const sandbox = opening.adopt(await startSandbox(sandboxOptions), (it) => it.close());
  const workspace = opening.use(
    await makeWorkspace({
      'accounts.yaml': accountsYaml,
      'campaigns/contacts.csv': contactsCsv(4),
      'campaigns/test.yaml': smsCampaignYaml,
      ...files,
    }),
  );
  const environment = {
    ...accountEnvironment(opened, sandbox),
    VOLLEY_HOME: `${workspace.folder}/.volley`,
    VOLLEY_WEBHOOK_TOKEN: webhookToken,
    LOG_LEVEL: 'silent',
    ...others,
  };
  const place = { cwd: workspace.folder, env: environment };
  const serve = startInProcess(['serve', '--port', '0', '--api-port', '0', ...words], { ...place, now });
  opening.defer(async () => {
    serve.stop();
    await serve.ended;
  });
  await Promise.race([serve.waitForText('Dashboard: '), serve.ended]);
  const url = /^Dashboard: (\S+)\/$/m.exec(serve.stderrSoFar())?.[1];
  if (url === undefined) throw new Error(serve.stderrSoFar());

  let tokens = 0;
  const tokenOf: DashboardScene['tokenOf'] = (
    scope,
    { owner = 'ann', accounts = null, expiresAt = null } = {},
  ) => createToken(opened.context, { name: `${scope} ${++tokens}`, scope, owner, accounts, expiresAt });
  opening.defer(closePages);
  const browse: DashboardScene['browse'] = async (path, { scope = 'admin', ...asked } = {}) => {
    const token = asked.token ?? (await tokenOf(scope, asked));
    return openPage(await openBrowser(), { ...asked, url, token, path });
  };
  const whole = opening.move();
  return {
    url,
    get webhookUrl() {
      const begin = /^Delivery reports of account .*: POST (\S+)<its webhookToken>$/m.exec(
        serve.stderrSoFar(),
      );
      return `${begin?.[1] ?? ''}${webhookToken}`;
    },
    opened,
    sandbox,
    workspace,
    environment,
    command: (asked) => volleyInProcess(asked, place),
    tokenOf,
    visitor: async (scope, asked) => signIn(url, await tokenOf(scope, asked)),
    browse,
    [Symbol.asyncDispose]: () => whole.disposeAsync(),
  };
}

/** @throws Error unless the token is accepted */
export async function signIn(url: string, token: string): Promise<Visitor> {
  const cookies = new Map<string, string>();
  const header = (): string => [...cookies].map(([name, value]) => `${name}=${value}`).join('; ');
  const ask = async (path: string, init: RequestInit): Promise<PageAnswer> => {
    const headers = { ...(cookies.size > 0 && { cookie: header() }), ...init.headers };
    const answer = await fetch(`${url}${path}`, { ...init, headers, redirect: 'manual' });
    for (const cookie of answer.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(cookie) ?? [];
      if (value === '') cookies.delete(name);
      else cookies.set(name, value);
    }
    return { status: answer.status, headers: answer.headers, text: await answer.text() };
  };
  const get: Visitor['get'] = (path, headers = {}) => ask(path, { headers });
  const post: Visitor['post'] = (path, fields, headers = {}) =>
    ask(path, { method: 'POST', body: new URLSearchParams(fields), headers: { origin: url, ...headers } });
  const send: Visitor['send'] = async (path, fields) =>
    post(path, { ...hiddenFields((await whenPlanned({ get }, path)).text), ...fields });
  const { status, text } = await post('/sign-in', { token });
  if (status !== 303) throw new Error(`not signed in: ${text}`);
  return { cookies: header, get, post, send };
}

/** The page of a start, as soon as its plan is made. */
export async function whenPlanned({ get }: Pick<Visitor, 'get'>, path: string): Promise<PageAnswer> {
  for (;;) {
    const answer = await get(path);
    if (!/<noscript><meta http-equiv="refresh"/.test(answer.text)) return answer;
    await sleep(100);
  }
}

/** Of the question, or else of the first form, in the main part of a page. */
export function hiddenFields(page: string): Record<string, string> {
  const question = /<main[\s\S]*?(<form method="post" class="question"[\s\S]*?<\/form>)/.exec(page);
  const form = (question ?? /<main[\s\S]*?(<form method="post"[\s\S]*?<\/form>)/.exec(page))?.[1] ?? '';
  const fields = [...form.matchAll(/<input type="hidden" name="([^"]+)" value="([^"]*)">/g)];
  return Object.fromEntries(fields.map(([, name = '', value = '']) => [name, value]));
}

async function openPage(
  browser: Browser,
  {
    url,
    token,
    path,
    width = 1_280,
    height = 900,
    javaScript = true,
    zone,
  }: BrowseOptions & { readonly url: string; readonly token: string; readonly path: string },
): Promise<Page> {
  const context: BrowserContext = await browser.newContext({
    viewport: { width, height },
    javaScriptEnabled: javaScript,
    ...(zone !== undefined && { timezoneId: zone }),
  });
  const page = await context.newPage();
  await page.goto(`${url}/sign-in?${new URLSearchParams({ to: path }).toString()}`);
  await page.getByLabel('Your token').fill(token);
  await page.getByRole('button', { name: 'Sign in' }).click();
  return page;
}
