import type { Definition } from './command.ts';

type RetiredCommand = {
  readonly instead: string;
  readonly load: () => Promise<{ readonly command: Definition }>;
};

/** Former names of commands. They work for one more version, and say what to use instead. */
export const retiredCommands: Readonly<Record<string, RetiredCommand>> = {
  check: { instead: '`volley plan <campaign> --check`', load: () => import('./commands/check.ts') },
  reports: { instead: '`volley delivery-reports`', load: () => import('./commands/delivery-reports.ts') },
  'report billing': {
    instead: '`volley billing report`',
    load: () => import('./commands/billing-report.ts'),
  },
  'report reconcile': {
    instead: '`volley billing reconcile`',
    load: () => import('./commands/billing-reconcile.ts'),
  },
};
