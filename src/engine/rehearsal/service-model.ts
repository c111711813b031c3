import type { Given, GivenShares } from './given-file.ts';

/** Shares of accepted recipients. The rest get no report. */
export type ReportShares = { readonly delivered: number; readonly undelivered: number };

/** What the service is assumed to do. Shares are from 0 to 1, times in milliseconds. */
export type ServiceModel = {
  readonly answerAfter: number;
  /** Shares of recipients. */
  readonly rejected: number;
  readonly unknown: number;
  readonly reports: ReportShares;
  /** After the answer; each as likely. */
  readonly reportDelays: readonly number[];
};

/** `account`: it has neither a webhook nor a look-up, so no report comes. */
export type Source = 'given' | 'former runs' | 'account' | 'assumed';

export type ModelSources = { readonly [Key in keyof ServiceModel]: Source };

/** Normal deviates of 5 %, 15 %, … 95 %. */
const deviates = [-1.645, -1.036, -0.674, -0.385, -0.126, 0.126, 0.385, 0.674, 1.036, 1.645];

/** Without anything that is known. */
export const assumed: ServiceModel = {
  answerAfter: 200,
  rejected: 0,
  unknown: 0,
  reports: { delivered: 0.98, undelivered: 0.01 },
  reportDelays: delaysOf({ half: 5_000, most: 60_000 }),
};

const noReports: ReportShares = { delivered: 0, undelivered: 0 };

/** Chooses each value: the given one, else that of former runs, else an assumption. */
export function chooseModel(
  given: Given | undefined,
  {
    known = {},
    bringsReports,
  }: { readonly known?: Partial<ServiceModel> | undefined; readonly bringsReports: boolean },
): { readonly model: ServiceModel; readonly sources: ModelSources } {
  const usual = { ...assumed, ...known, ...(!bringsReports && { reports: noReports }) };
  const stated = given ? statedIn(given, usual.reports) : {};
  const sourceOf = (key: keyof ServiceModel): Source =>
    key in stated ? 'given' : key in known ? 'former runs' : 'assumed';
  return {
    model: { ...usual, ...stated },
    sources: {
      answerAfter: sourceOf('answerAfter'),
      rejected: sourceOf('rejected'),
      unknown: sourceOf('unknown'),
      reports: bringsReports || 'reports' in stated ? sourceOf('reports') : 'account',
      reportDelays: sourceOf('reportDelays'),
    },
  };
}

function statedIn(given: Given, usual: ReportShares): Partial<ServiceModel> {
  const { answerAfter, rejected, unknown, reportAfter } = given;
  const reports = withShares(usual, given);
  return {
    ...(answerAfter !== undefined && { answerAfter }),
    ...(rejected !== undefined && { rejected }),
    ...(unknown !== undefined && { unknown }),
    ...(reports !== usual && { reports }),
    ...(reportAfter && { reportDelays: delaysOf(reportAfter) }),
  };
}

/** The stated shares. If only one is stated, as many recipients as usual get no report. */
export function withShares(usual: ReportShares, { delivered, undelivered }: GivenShares): ReportShares {
  const reported = usual.delivered + usual.undelivered;
  if (delivered === undefined && undelivered === undefined) return usual;
  return {
    delivered: delivered ?? Math.max(0, reported - (undelivered ?? 0)),
    undelivered: undelivered ?? Math.max(0, reported - (delivered ?? 0)),
  };
}

/** Quantiles of a lognormal distribution, which reports of messages come near. */
export function delaysOf({
  half,
  most,
}: {
  readonly half: number;
  readonly most: number;
}): readonly number[] {
  const spread = Math.log(Math.max(1, most) / Math.max(1, half)) / 1.645;
  return deviates.map((deviate) => Math.round(Math.max(1, half) * Math.exp(deviate * spread)));
}
