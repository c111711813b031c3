import { defineGroup } from '../command.ts';

/** In the order of `volley report --help`. One is loaded when it is called: all of them take as long as the rest of a `--help`. */
export const command = defineGroup('Prints reports of runs, campaigns, contacts and recipients.', {
  run: () => import('./report-run.ts'),
  campaigns: () => import('./report-campaigns.ts'),
  contacts: () => import('./report-contacts.ts'),
  failures: () => import('./report-failures.ts'),
  recipient: () => import('./report-recipient.ts'),
});
