/** What the service does in a rehearsal. Shares are from 0 to 1, times in milliseconds. */
export type Service = {
  readonly answerAfter: number;
  /** Recipients whose requests are rejected. */
  readonly rejected: number;
  /** Of the others: recipients whose requests stay in doubt. */
  readonly unknown: number;
  /** Of accepted recipients: those that get no delivery report. */
  readonly unreported: number;
  /** Of recipients with a delivery report. */
  readonly undelivered: number;
  /** After the answer. */
  readonly reportAfter: ReportDelay;
};

/** How long half of the reports take, and 95 % of them. */
export type ReportDelay = { readonly half: number; readonly most: number };

/** Where a value is known from. `no reports`: the account has neither a webhook nor a look-up. */
export type Source = 'given' | 'no reports' | 'former runs' | 'account' | 'assumed';

export type KnownService = {
  readonly [Key in keyof Service]: { readonly value: Service[Key]; readonly source: Source };
};

/** A source, and what it says. */
export type Stated = readonly [Source, { readonly [Key in keyof Service]?: Service[Key] | undefined }];

const assumed: Service = {
  answerAfter: 200,
  rejected: 0,
  unknown: 0,
  unreported: 0.01,
  undelivered: 0.01,
  reportAfter: { half: 5_000, most: 60_000 },
};

/** Each value is that of the first source that says it, else an assumption. */
export function chooseService(stated: readonly Stated[]): KnownService {
  const choose = <Value>(of: (values: Stated[1]) => Value | undefined, otherwise: Value) => {
    for (const [source, values] of stated) {
      const value = of(values);
      if (value !== undefined) return { value, source };
    }
    return { value: otherwise, source: 'assumed' as const };
  };
  return {
    answerAfter: choose((of) => of.answerAfter, assumed.answerAfter),
    rejected: choose((of) => of.rejected, assumed.rejected),
    unknown: choose((of) => of.unknown, assumed.unknown),
    unreported: choose((of) => of.unreported, assumed.unreported),
    undelivered: choose((of) => of.undelivered, assumed.undelivered),
    reportAfter: choose((of) => of.reportAfter, assumed.reportAfter),
  };
}
