import { accountsYaml, contactsCsv, smsCampaignYaml } from './workspace.ts';

/** The folder of the ledgers in test/fixtures/ledgers: they were made with these files, and go on with them. */
const once = smsCampaignYaml.replace(', repeat: allow', '');
const named = (name: string, more = ''): string =>
  `${once.replace('campaign: test', `campaign: ${name}`)}${more}`;

export const formerLedgerFiles = {
  'accounts.yaml': accountsYaml,
  'contacts.csv': contactsCsv(6),
  'october.yaml': named('october'),
  'unreported.yaml': named('unreported'),
  'doubt.yaml': named('doubt'),
  'approval.yaml': named('approval', 'approval: required\n'),
  'paused.yaml': named('paused').replace('concurrency: 4', 'concurrency: 1'),
  'cancelled.yaml': named('cancelled').replace('concurrency: 4', 'concurrency: 1'),
  'running.yaml': named('running').replace('concurrency: 4', 'concurrency: 1'),
  'campaigns/nightly.yaml': named('nightly', 'schedule: { cron: "0 3 * * *", timeZone: Etc/UTC }\n').replace(
    'file: contacts.csv',
    'file: ../contacts.csv',
  ),
} as const;

/** The person who plans; another one approves. */
export const planner = 'ann@office';

/** No secret: it hashes the addresses of the fixtures only. */
export const formerHashKey = 'the key of the hashes in the ledgers of test/fixtures';

/** The runs of a ledger, by what they are for; `bill`: the report of the closed month as JSON. */
export type FormerLedger = {
  readonly runs: Readonly<
    Record<'october' | 'unreported' | 'doubt' | 'approval' | 'paused' | 'cancelled' | 'running', string>
  >;
  readonly bill: unknown;
};
