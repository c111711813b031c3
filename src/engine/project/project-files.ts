import { definitionJsonSchema } from '../../campaign/definition.ts';
import { accountsJsonSchema } from '../../gateway/accounts-schema.ts';

export type ProjectFile = {
  /** Relative to the project. */
  readonly path: string;
  readonly text: string;
  /** Default: what the process allows. */
  readonly mode?: number;
  /** What the file is, in words for people. */
  readonly what: string;
};

export const accountsFile = 'campaigns/accounts.yaml';

/** @param newSecret returns 22 or more characters of A–Z, a–z, 0–9, - and _ */
export function commonFiles(newSecret: () => string): readonly ProjectFile[] {
  return [
    { path: accountsFile, text: accounts, what: 'the account sandbox, and room for your own' },
    schemaFile('accounts', accountsJsonSchema()),
    campaignSchemaFile(),
    {
      path: '.env',
      text: environmentText({ sandbox: newSecret(), webhook: newSecret() }),
      mode: 0o600,
      what: 'secrets and settings, for this machine only',
    },
    {
      path: '.env.example',
      text: environmentText({ sandbox: 'any', webhook: '' }),
      what: 'the same without secrets',
    },
    { path: '.gitignore', text: `${ignored.join('\n')}\n`, what: 'keeps secrets and contacts out of git' },
  ];
}

/** Editors complete campaigns with it. */
export const campaignSchemaFile = (): ProjectFile => schemaFile('campaign', definitionJsonSchema());

function schemaFile(kind: 'accounts' | 'campaign', schema: unknown): ProjectFile {
  const text = `${JSON.stringify(schema, null, 2)}\n`;
  return { path: `campaigns/${kind}.schema.json`, text, what: 'completion in editors' };
}

/** Contact files hold addresses. */
export const ignored: readonly string[] = [
  '.volley/',
  '.env',
  'campaigns/contacts/*',
  '!campaigns/contacts/example.csv',
];

/** Numbers that the Australian authority keeps for fiction, and domains that are kept for examples. One row is wrong. */
export const exampleContacts: ProjectFile = {
  path: 'campaigns/contacts/example.csv',
  what: '12 invented contacts, one with a mistake',
  text: `mobile,email,first_name,last_name,city
+61491570006,ann.lee@example.com,Ann,Lee,Hobart
+61491570156,bob.okafor@example.org,Bob,Okafor,Darwin
+61491570157,carla.rossi@example.net,Carla,Rossi,Perth
+61491570158,dev.patel@example.com,Dev,Patel,Sydney
+61491570159,eva.novak@example.org,Eva,Novak,Cairns
+61491570110,finn.murphy@example.net,Finn,Murphy,Hobart
+61491570313,grace.kim@example.com,Grace,Kim,Brisbane
+61491570737,hana.sato@example.org,Hana,Sato,Adelaide
+61491571266,ivo.costa@example.net,Ivo,Costa,Perth
+61491571491,jun.chen@example.com,Jun,Chen,Sydney
+61491571804,info@example.org,,,Melbourne
+6149157,kofi.example.com,Kofi,Mensah,Darwin
`,
};

const accounts = `# yaml-language-server: $schema=./accounts.schema.json
# The services that campaigns are sent through. Secrets do not belong here: write \${NAME}, and set NAME in .env.
accounts:
  # For trials. \`volley run <campaign> --sandbox\` starts a sandbox, which delivers nothing.
  sandbox:
    interface: rest-2.02
    baseUrl: \${VOLLEY_SANDBOX_URL:-http://127.0.0.1:8025}
    # For a sandbox in a container of its own: docs/deploy/compose.yaml of the package.
    plainHttp: allowed
    authToken: \${VOLLEY_SANDBOX_TOKEN}
    webhookToken: \${VOLLEY_WEBHOOK_TOKEN}
    # Estimates of costs, in plans and reports, come from here. Write what you pay.
    rates:
      - { channel: sms, unit: part, price: 0.08, currency: AUD, tax: 0.10 }
      - { channel: email, unit: email, price: 0.02, currency: AUD, tax: 0.10 }

  # Your account: remove each "# ", set VOLLEY_AUTH_TOKEN in .env, and write "account: main" in a campaign.
  # main:
  #   interface: rest-2.02
  #   baseUrl: https://service.example
  #   authToken: \${VOLLEY_AUTH_TOKEN}
  #   webhookToken: \${VOLLEY_WEBHOOK_TOKEN}
  #   limits: { concurrency: 16, requestsPerSecond: 50 }
`;

function environmentText({
  sandbox,
  webhook,
}: {
  readonly sandbox: string;
  readonly webhook: string;
}): string {
  return `# Settings of this project. Every volley command in it reads this file; the environment takes precedence.
# It holds secrets: keep .env out of git, and from other users (chmod 600 .env).

# The sandbox accepts any token.
VOLLEY_SANDBOX_TOKEN=${sandbox}
# The secret end of the address to which the service sends delivery reports: openssl rand -hex 24
VOLLEY_WEBHOOK_TOKEN=${webhook}

# The token of your own account in campaigns/accounts.yaml.
# VOLLEY_AUTH_TOKEN=
# A Postgres that is backed up. Without it, the ledger is in .volley/.
# DATABASE_URL=postgres://user:password@db.example/volley?sslmode=verify-full
# Where the service reaches volley serve.
# VOLLEY_PUBLIC_URL=https://hooks.example
`;
}
