import { defineGroup } from '../command.ts';

/** In the order of `volley report --help`. One is loaded when it is called: all seven take 20 ms. */
export const command = defineGroup('Prints reports of runs, contacts, recipients and billing.', {
  run: () => import('./report-run.ts'),
  campaigns: () => import('./report-campaigns.ts'),
  contacts: () => import('./report-contacts.ts'),
  failures: () => import('./report-failures.ts'),
  recipient: () => import('./report-recipient.ts'),
  billing: () => import('./report-billing.ts'),
  reconcile: () => import('./report-reconcile.ts'),
});
