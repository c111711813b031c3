import { readRunAnswers } from '../../ledger/counts/answers.ts';
import { readRunCounts } from '../../ledger/counts/run-counts.ts';
import { listFormerRuns } from '../../ledger/counts/run-outcome.ts';
import { readReportDelays } from '../../ledger/delivery-reports/report-delays.ts';
import type { Transaction } from '../../ledger/session.ts';
import { type ComparedRun, readUsual, type UsualOutcome } from '../../ledger/watch/usual.ts';
import { assumed, type ReportShares, type ServiceModel } from './service-model.ts';

/** What the service did in former runs. */
export type PastService = {
  readonly known: Partial<ServiceModel>;
  /** By destination, where former runs counted them. */
  readonly destinations: ReadonlyMap<string, ReportShares>;
  /** What the guard compares with. */
  readonly usual: UsualOutcome | undefined;
};

/** Reads kept counts, and a sample of report delays: of former runs of the campaign, else of its account. */
export async function readPastService(client: Transaction, compared: ComparedRun): Promise<PastService> {
  const usual = await readUsual(client, compared);
  const runs = await listFormerRuns(client, compared);
  const counts = [...(await readRunCounts(client, runs)).values()];
  const total = (states: readonly (keyof (typeof counts)[number]['recipients'])[]): number =>
    counts.reduce(
      (sum, { recipients }) => sum + states.reduce((all, state) => all + recipients[state], 0),
      0,
    );
  const [rejected, unknown] = [total(['rejected', 'failed']), total(['unknown'])];
  const reported = total(['delivered', 'undelivered']);
  const accepted = total(['accepted']) + reported;
  const sent = accepted + rejected + unknown;
  const [newest] = runs;
  const answerAfter = newest === undefined ? null : (await readRunAnswers(client, newest)).latency.median;
  const reportDelays = await readReportDelays(client, runs);
  const reportedShare =
    accepted === 0 ? assumed.reports.delivered + assumed.reports.undelivered : reported / accepted;
  const sharesOf = ({ events, trials }: UsualOutcome['whole']): ReportShares => ({
    delivered: reportedShare * (1 - events / trials),
    undelivered: reportedShare * (events / trials),
  });
  return {
    usual,
    known: {
      ...(sent > 0 && { rejected: rejected / sent, unknown: unknown / sent }),
      ...(answerAfter !== null && { answerAfter }),
      ...(usual && { reports: sharesOf(usual.whole) }),
      ...(reportDelays && { reportDelays }),
    },
    destinations: new Map(
      Object.entries(usual?.at ?? {}).map(([name, counted]) => [name, sharesOf(counted)]),
    ),
  };
}
