import { defineGroup } from '../command.ts';

/** Lists the reports in the order of the help. One is loaded when it is called: all take as long as the rest of a `--help`. */
export const command = defineGroup('Prints reports of runs, campaigns, contacts and recipients.', {
  run: () => import('./report-run.ts'),
  campaigns: () => import('./report-campaigns.ts'),
  contacts: () => import('./report-contacts.ts'),
  failures: () => import('./report-failures.ts'),
  recipient: () => import('./report-recipient.ts'),
});
