import type { Given } from './given-file.ts';

/** What the service does in a rehearsal. */
export type Service = { readonly [Key in Exclude<keyof Given, 'destinations'>]-?: NonNullable<Given[Key]> };

/** Where a value is known from. `no reports`: the account has neither a webhook nor a look-up. */
export type Source = 'given' | 'no reports' | 'former runs' | 'account' | 'assumed';

type Known<Value> = { readonly value: Value; readonly source: Source };

export type KnownService = { readonly [Key in keyof Service]: Known<Service[Key]> };

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
  const choose = <Key extends keyof Service>(key: Key): Known<Service[Key]> => {
    for (const [source, { [key]: value }] of stated) if (value !== undefined) return { value, source };
    return { value: assumed[key], source: 'assumed' };
  };
  return {
    answerAfter: choose('answerAfter'),
    rejected: choose('rejected'),
    unknown: choose('unknown'),
    unreported: choose('unreported'),
    undelivered: choose('undelivered'),
    reportAfter: choose('reportAfter'),
  };
}
