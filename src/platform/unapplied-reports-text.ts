import type { UnappliedReports } from '../domain/delivery-reports.ts';

/** What is wrong, and what to do, with commands between backticks; empty if nothing is. */
export function describeUnapplied(
  { waiting, since, failed }: UnappliedReports,
  formatTime: (time: Date) => string,
): string[] {
  const counted = (count: number): string =>
    `${count.toLocaleString('en')} delivery ${count === 1 ? 'report' : 'reports'}`;
  return [
    ...(since === null
      ? []
      : [
          `${counted(waiting)} ${waiting === 1 ? 'waits' : 'wait'} to be applied since ${formatTime(since)}: no process applies them, or none can. Start \`volley serve\`; if it runs, see its log.`,
        ]),
    ...(failed === 0
      ? []
      : [
          `${counted(failed)} could not be applied. \`volley delivery-reports list --state failed\` shows ${failed === 1 ? 'it' : 'them'}.`,
        ]),
  ];
}
