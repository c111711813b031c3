import type { BegunRun } from '../domain/claim-marks.ts';

/** The newest are shown, and the others counted. */
const maxShown = 20;

/** Lines that list what this machine sent and the ledger lacks, and what follows; none without such a run. */
export function lostRunsText(lost: readonly BegunRun[]): readonly string[] {
  if (lost.length === 0) return [];
  return [
    'This machine sent from these runs, and this ledger lacks them:',
    ...lost
      .slice(0, maxShown)
      .map(({ run, campaign, service, at }) => `  ${run}  ${campaign}, to ${service}, last at ${at}`),
    ...(lost.length > maxShown ? [`  and ${lost.length - maxShown} more`] : []),
    'They are not billed here, and reports about them are unmatched. `volley run` refuses to send the same again for as long as dispatch.repeat says; after that, or with --again, their recipients get it twice. See "Runs that the ledger lacks" in docs/how-to/backup.md.',
  ];
}
