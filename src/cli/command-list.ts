import type { Definition } from './command.ts';

export type ListedCommand = {
  readonly summary: string;
  readonly alias?: string;
  /** A command is loaded only when it is called. */
  readonly load: () => Promise<{ readonly command: Definition }>;
};

/** In the order of the help. */
export const commandList: Readonly<Record<string, ListedCommand>> = {
  init: { summary: 'make a folder a project, with a new ledger', load: () => import('./commands/init.ts') },
  check: {
    summary: 'check a campaign and the files that it names',
    load: () => import('./commands/check.ts'),
  },
  plan: { summary: 'show what a run would send, and send nothing', load: () => import('./commands/plan.ts') },
  run: { summary: 'run a campaign', load: () => import('./commands/run.ts') },
  resume: { summary: 'continue an interrupted or paused run', load: () => import('./commands/resume.ts') },
  approve: {
    summary: 'approve a run, as a second person',
    load: () => import('./commands/approve.ts'),
  },
  pause: { summary: 'stop sending a run; resume continues it', load: () => import('./commands/pause.ts') },
  cancel: { summary: 'end a run for good', load: () => import('./commands/cancel.ts') },
  worker: { summary: 'help to send all runs', load: () => import('./commands/worker.ts') },
  schedule: {
    summary: 'list and update campaigns that run by themselves',
    load: () => import('./commands/schedule.ts'),
  },
  runs: { summary: 'list the runs, newest first', load: () => import('./commands/runs.ts') },
  status: { summary: 'show a run in numbers', load: () => import('./commands/status.ts') },
  tail: {
    summary: 'follow what happens to a run, as it happens',
    load: () => import('./commands/tail.ts'),
  },
  resolve: {
    summary: 'list, look up and resolve requests in doubt',
    load: () => import('./commands/resolve.ts'),
  },
  report: {
    summary: 'report a run, its contacts, a recipient, billing',
    load: () => import('./commands/report.ts'),
  },
  'delivery-reports': {
    summary: 'list delivery reports and missing ones, replay them',
    alias: 'reports',
    load: () => import('./commands/delivery-reports.ts'),
  },
  billing: {
    summary: 'close a month of billing, list closed months',
    load: () => import('./commands/billing.ts'),
  },
  suppress: {
    summary: 'add, remove, import and list suppressed addresses',
    load: () => import('./commands/suppress.ts'),
  },
  account: {
    summary: 'show or change the limits of accounts',
    load: () => import('./commands/account.ts'),
  },
  purge: {
    summary: 'erase addresses, names and messages of old runs',
    load: () => import('./commands/purge.ts'),
  },
  erase: {
    summary: 'erase one person from all runs that have ended',
    load: () => import('./commands/erase.ts'),
  },
  audit: {
    summary: 'list the audit trail: who did what, and when',
    load: () => import('./commands/audit.ts'),
  },
  token: {
    summary: 'create, list and revoke tokens of the API',
    load: () => import('./commands/token.ts'),
  },
  serve: {
    summary: 'receive delivery reports, start schedules, send, and serve the API and the dashboard',
    load: () => import('./commands/serve.ts'),
  },
  dashboard: {
    summary: 'show the ledger in a browser on this machine',
    load: () => import('./commands/dashboard.ts'),
  },
  sandbox: {
    summary: 'start a sandbox of the messaging service',
    load: () => import('./commands/sandbox.ts'),
  },
  doctor: {
    summary: 'check the installation, and say what to do about what it finds',
    load: () => import('./commands/doctor.ts'),
  },
  db: { summary: 'migrate, show or stop the database', load: () => import('./commands/db.ts') },
  completion: {
    summary: 'print the completion script of a shell',
    load: () => import('./commands/completion.ts'),
  },
  schema: {
    summary: 'print the JSON Schema of campaigns or accounts, or the API as OpenAPI',
    load: () => import('./commands/schema.ts'),
  },
  demo: {
    summary: 'show an import, a dispatch and billing on this machine',
    load: () => import('./commands/demo.ts'),
  },
};
