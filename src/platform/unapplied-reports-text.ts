import type { UnappliedReports } from '../domain/delivery-reports.ts';
import { type NextStep, nextStep } from '../domain/next-step.ts';

/** What is wrong, and what to do; empty if nothing is. */
export function describeUnapplied(
  { waiting, since, failed }: UnappliedReports,
  formatTime: (time: Date) => string,
): NextStep[] {
  const counted = (count: number): string =>
    `${count.toLocaleString('en')} delivery ${count === 1 ? 'report' : 'reports'}`;
  const words: NextStep[] = [];
  if (since !== null)
    words.push(
      `${counted(waiting)} ${waiting === 1 ? 'waits' : 'wait'} to be applied since ${formatTime(since)}: no process applies them, or none can. Start \`volley serve\`; if it runs, see its log.`,
    );
  if (failed > 0)
    words.push(
      nextStep`${counted(failed)} could not be applied. See ${{ kind: 'list reports', state: 'failed' }}.`,
    );
  return words;
}
