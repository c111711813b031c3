import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { Settings } from '../../src/engine/settings.ts';

export type Workspace = AsyncDisposable & {
  readonly folder: string;
  readonly write: (path: string, content: string | Uint8Array) => Promise<void>;
  readonly read: (path: string) => Promise<string>;
};

/** A temporary folder with these files. */
export async function makeWorkspace(files: Readonly<Record<string, string>> = {}): Promise<Workspace> {
  const folder = await mkdtemp(join(tmpdir(), 'volley-test-'));
  const write = async (path: string, content: string | Uint8Array): Promise<void> => {
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await writeFile(join(folder, path), content);
  };
  for (const [path, content] of Object.entries(files)) await write(path, content);
  return {
    folder,
    write,
    read: (path) => readFile(join(folder, path), 'utf8'),
    [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true }),
  };
}

/** One account, `sandbox`, at VOLLEY_SANDBOX_URL. */
export const accountsYaml = `
accounts:
  sandbox:
    interface: rest-2.02
    baseUrl: \${VOLLEY_SANDBOX_URL}
    authToken: \${VOLLEY_SANDBOX_TOKEN}
    webhookToken: \${VOLLEY_WEBHOOK_TOKEN}
    timeouts: { connect: 2s, headers: 5s, body: 5s }
`;

/** The environment for `accountsYaml`. */
export function accountEnvironment(ledger: { readonly url: string }, service: { readonly url: string }) {
  return {
    DATABASE_URL: ledger.url,
    VOLLEY_ACCOUNTS: 'accounts.yaml',
    VOLLEY_SANDBOX_URL: service.url,
    VOLLEY_SANDBOX_TOKEN: 'any',
  };
}

/** Settings for `accountsYaml`. Nothing listens at the address of the account. */
export function settingsIn(
  { folder }: Pick<Workspace, 'folder'>,
  environment: Readonly<Record<string, string>> = {},
): Settings {
  return {
    workingFolder: folder,
    environment: {
      VOLLEY_ACCOUNTS: 'accounts.yaml',
      VOLLEY_SANDBOX_URL: 'http://127.0.0.1:9',
      VOLLEY_SANDBOX_TOKEN: 'x',
      ...environment,
    },
  };
}

/** Australian mobile numbers, ten per ChargeCode. */
export function contactsCsv(count: number): string {
  const rows = Array.from({ length: count }, (_, index) => {
    const number = `04120${String(index).padStart(5, '0')}`;
    return `${number},Name ${index},C${Math.floor(index / 10)}`;
  });
  return ['mobile,name,code', ...rows, ''].join('\n');
}

/** Can be run again at once, because the tests of a file share a ledger. */
export const smsCampaignYaml = `
campaign: test
account: sandbox
channel: sms
contacts:
  file: contacts.csv
  country: AU
  columns: { Recipient: mobile }
message:
  Message: "Hello [[name]]"
  ChargeCode: "[[code]]"
dispatch: { chunkSize: 1, concurrency: 4, retries: 2, repeat: allow }
`;

/** With the default protection against another run within hours. */
export const noRepeatCampaignYaml = smsCampaignYaml.replace(', repeat: allow', '');
