import { EventEmitter } from 'node:events';
import type { TokenScope } from '../../src/domain/access.ts';
import { type StartRun, startByKey } from '../../src/engine/access/start-by-key.ts';
import { createToken } from '../../src/engine/access/tokens.ts';
import { loadAccount } from '../../src/engine/load-definition.ts';
import { openLogger } from '../../src/platform/logger.ts';
import { startApi } from '../../src/server/api/api.ts';
import { openTestLedger, type TestLedger } from './ledger.ts';
import {
  accountsYaml,
  contactsCsv,
  makeWorkspace,
  noRepeatCampaignYaml,
  smsCampaignYaml,
  type Workspace,
} from './workspace.ts';

export type Answer = {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  /** Of a JSON answer. */
  readonly json: Readonly<Record<string, unknown>> | undefined;
};

export type CallOptions = {
  readonly token?: string | undefined;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
};

export type ApiScene = AsyncDisposable & {
  readonly opened: TestLedger;
  readonly workspace: Workspace;
  readonly url: string;
  readonly logged: () => string;
  /** Operation and status of each call. */
  readonly answered: readonly string[];
  /** All owned by `ann`. */
  readonly tokens: Readonly<Record<TokenScope, string>>;
  readonly tokenOf: (
    name: string,
    scope: TokenScope,
    owner: string,
    limits?: { readonly expiresAt?: Date; readonly accounts?: readonly string[] },
  ) => Promise<string>;
  readonly call: (method: string, path: string, asked?: CallOptions) => Promise<Answer>;
  /** Runs before the account of a new run is looked up. */
  readonly beforeAccountLookUp: (work: () => Promise<unknown>) => void;
  /** Returns the run's id. */
  readonly start: (campaign: string, key: string) => Promise<string>;
};

/** An API with a folder of campaigns whose account cannot be reached, so nothing is sent. */
export async function openApiScene(refusals?: number): Promise<ApiScene> {
  const cleanUp = new AsyncDisposableStack();
  const opened = await openTestLedger();
  cleanUp.defer(() => opened.close());
  const workspace = cleanUp.use(
    await makeWorkspace({
      'campaigns/accounts.yaml': accountsYaml,
      'campaigns/contacts.csv': contactsCsv(4),
      'campaigns/payroll.yaml': noRepeatCampaignYaml,
      'campaigns/watched.yaml': `${smsCampaignYaml}approval: required\n`,
      'campaigns/dear.yaml': `${smsCampaignYaml}budget: { campaign: 0.01 }\n`,
      'secret.yaml': smsCampaignYaml,
    }),
  );
  const environment = { VOLLEY_SANDBOX_URL: 'http://127.0.0.1:9', VOLLEY_SANDBOX_TOKEN: 'any' };
  const settings = { environment, workingFolder: workspace.folder };
  let doBeforeAccountLookUp = async (): Promise<unknown> => undefined;
  const accountNamed = async (name: string) => {
    await doBeforeAccountLookUp();
    return loadAccount(name, settings);
  };
  const campaignSource = { folder: 'campaigns', settings, accountNamed };
  const lines = new EventEmitter();
  let logged = '';
  lines.on('line', (line: string) => {
    logged += line;
  });
  const logger = openLogger('debug', 'info', { write: (line) => void lines.emit('line', line) });
  const answered: string[] = [];
  const observer = (operation: string, status: number) => void answered.push(`${operation} ${status}`);
  const api = {
    campaignSource,
    logger,
    observer,
    ...(refusals !== undefined && { refusals }),
    startRun: (...[context, request]: Parameters<StartRun>) =>
      startByKey(context, campaignSource, request, () => undefined),
  };
  const { url, close } = await startApi(opened.context, { host: '127.0.0.1', port: 0, api });
  cleanUp.defer(() => close());

  const tokenOf: ApiScene['tokenOf'] = (name, scope, owner, { expiresAt = null, accounts = null } = {}) =>
    createToken(opened.context, { name, scope, owner, accounts, expiresAt });
  const tokens = {
    read: await tokenOf('reader', 'read', 'ann'),
    search: await tokenOf('searcher', 'search', 'ann'),
    run: await tokenOf('runner', 'run', 'ann'),
    approve: await tokenOf('approver', 'approve', 'ann'),
    admin: await tokenOf('chief', 'admin', 'ann'),
  };
  const call: ApiScene['call'] = (method, path, { token = tokens.admin, ...options } = {}) =>
    callApi(url, method, path, { ...options, token });
  const start: ApiScene['start'] = async (campaign, key) => {
    const { status, json, text } = await call('POST', '/runs', {
      token: tokens.run,
      body: { campaign },
      headers: { 'idempotency-key': key },
    });
    if (status !== 202) throw new Error(text);
    return String(json?.['run']);
  };
  return {
    opened,
    workspace,
    url,
    tokens,
    tokenOf,
    call,
    start,
    beforeAccountLookUp: (work) => {
      doBeforeAccountLookUp = work;
    },
    logged: () => logged,
    answered,
    [Symbol.asyncDispose]: () => cleanUp.disposeAsync(),
  };
}

async function callApi(
  url: string,
  method: string,
  path: string,
  { token, body, headers }: CallOptions,
): Promise<Answer> {
  const answer = await fetch(`${url}${path.startsWith('/api') ? '' : '/api/v1'}${path}`, {
    method,
    headers: {
      ...(token !== '' && { authorization: `Bearer ${token}` }),
      ...(body !== undefined && { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  });
  const text = await answer.text();
  const isJson = /json\b/.test(answer.headers.get('content-type')?.replace('ndjson', '') ?? '');
  return {
    status: answer.status,
    headers: answer.headers,
    text,
    json: isJson ? JSON.parse(text) : undefined,
  };
}
