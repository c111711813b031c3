import type { Definition } from './command.ts';

type ListedCommand = {
  readonly summary: string;
  /** A command is loaded only when it is called: all of them take as long as the rest of `volley --help`. */
  readonly load: () => Promise<{ readonly command: Definition }>;
};

type Section = Readonly<Record<string, ListedCommand>>;

/** Lists the commands in the order of `volley --help`. */
export const commandSections: Readonly<Record<string, Section>> = {
  'Every day': {
    plan: {
      summary: 'show what a run would send, or check a campaign; send nothing',
      load: () => import('./commands/plan.ts'),
    },
    run: { summary: 'run a campaign', load: () => import('./commands/run.ts') },
    status: { summary: 'show a run in numbers', load: () => import('./commands/status.ts') },
    resume: { summary: 'continue an interrupted or paused run', load: () => import('./commands/resume.ts') },
    report: {
      summary: 'report a run, its contacts, a recipient, campaigns',
      load: () => import('./commands/report.ts'),
    },
  },
  Runs: {
    runs: { summary: 'list the runs, newest first', load: () => import('./commands/runs.ts') },
    tail: {
      summary: 'follow what happens to a run, as it happens',
      load: () => import('./commands/tail.ts'),
    },
    pause: { summary: 'stop sending a run; resume continues it', load: () => import('./commands/pause.ts') },
    cancel: { summary: 'end a run for good', load: () => import('./commands/cancel.ts') },
    promote: {
      summary: 'send the rest of a run after its canary',
      load: () => import('./commands/promote.ts'),
    },
    approve: { summary: 'approve a run, as a second person', load: () => import('./commands/approve.ts') },
    resolve: {
      summary: 'list, look up and resolve requests in doubt',
      load: () => import('./commands/resolve.ts'),
    },
    rerun: {
      summary: 'send again to recipients of a run, by their state',
      load: () => import('./commands/rerun.ts'),
    },
    schedule: {
      summary: 'list and update campaigns that run by themselves',
      load: () => import('./commands/schedule.ts'),
    },
  },
  'Recipients and billing': {
    'delivery-reports': {
      summary: 'list delivery reports and missing ones, replay them',
      load: () => import('./commands/delivery-reports.ts'),
    },
    suppress: {
      summary: 'add, remove, import and list suppressed addresses',
      load: () => import('./commands/suppress.ts'),
    },
    billing: {
      summary: 'report requests, units and money by payer, check invoices, close months',
      load: () => import('./commands/billing.ts'),
    },
    purge: {
      summary: 'erase addresses, names and messages of old runs',
      load: () => import('./commands/purge.ts'),
    },
    erase: {
      summary: 'erase one person from all runs that have ended',
      load: () => import('./commands/erase.ts'),
    },
  },
  'Set up and operate': {
    init: { summary: 'make a folder a project, with a new ledger', load: () => import('./commands/init.ts') },
    doctor: {
      summary: 'check the installation, and say what to do about what it finds',
      load: () => import('./commands/doctor.ts'),
    },
    serve: {
      summary: 'receive delivery reports, start schedules, send, and serve the API and the dashboard',
      load: () => import('./commands/serve.ts'),
    },
    worker: { summary: 'help to send all runs', load: () => import('./commands/worker.ts') },
    dashboard: {
      summary: 'show the ledger in a browser on this machine',
      load: () => import('./commands/dashboard.ts'),
    },
    account: {
      summary: 'show or change the limits of accounts',
      load: () => import('./commands/account.ts'),
    },
    cells: {
      summary: 'list the cells of several Postgres, move accounts between them',
      load: () => import('./commands/cells.ts'),
    },
    token: {
      summary: 'create, list and revoke tokens of the API',
      load: () => import('./commands/token.ts'),
    },
    audit: {
      summary: 'list the audit trail: what each person did, and when',
      load: () => import('./commands/audit.ts'),
    },
    db: { summary: 'migrate, show or stop the database', load: () => import('./commands/db.ts') },
  },
  Tools: {
    demo: {
      summary: 'show an import, a dispatch and billing on this machine',
      load: () => import('./commands/demo.ts'),
    },
    sandbox: {
      summary: 'start a sandbox of the messaging service',
      load: () => import('./commands/sandbox.ts'),
    },
    schema: {
      summary: 'print the JSON Schema of campaigns or accounts, or the API as OpenAPI',
      load: () => import('./commands/schema.ts'),
    },
    completion: {
      summary: 'print the completion script of a shell',
      load: () => import('./commands/completion.ts'),
    },
  },
};

export const commandList: Section = Object.assign({}, ...Object.values(commandSections));
