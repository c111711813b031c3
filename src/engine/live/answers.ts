import type { AttemptVerdict } from '../../ledger/runs/describe-sending.ts';
import type { AnswerCount } from '../../ledger/runs/slice-answers.ts';

/** Attempts that have ended. They can be added and taken away, so that a slice that changed is counted again. */
export type Answers = {
  /** By interval, verdict and status, as in `keyOf`. */
  readonly ended: Map<string, number>;
  /** Answered attempts by duration: milliseconds, cut to two digits. */
  readonly took: Map<number, number>;
};

export type EndedAttempts = {
  /** Seconds since 1970. */
  readonly second: number;
  readonly verdict: AttemptVerdict;
  readonly httpStatus: number | null;
  readonly attempts: number;
};

export function emptyAnswers(): Answers {
  return { ended: new Map(), took: new Map() };
}

const keyOf = (second: number, verdict: AttemptVerdict, status: number | null): string =>
  `${second} ${verdict} ${status ?? ''}`;

export function countAnswer(
  { ended, took }: Answers,
  { second, verdict, httpStatus, took: lasted, attempts }: Omit<AnswerCount, 'slice'>,
): void {
  if (second !== null) increase(ended, keyOf(second, verdict, httpStatus), attempts);
  else if (lasted !== null) increase(took, lasted, attempts);
}

/** @param sign -1 takes them away */
export function addAnswers(sum: Answers, { ended, took }: Answers, sign: 1 | -1): void {
  for (const [key, attempts] of ended) increase(sum.ended, key, sign * attempts);
  for (const [lasted, attempts] of took) increase(sum.took, lasted, sign * attempts);
}

function increase<Key>(counts: Map<Key, number>, key: Key, by: number): void {
  const count = (counts.get(key) ?? 0) + by;
  if (count === 0) counts.delete(key);
  else counts.set(key, count);
}

/** In order of time, then of verdict and status. */
export function listEnded({ ended }: Answers): EndedAttempts[] {
  return [...ended]
    .map(([key, attempts]) => ({ ...readKey(key), attempts }))
    .toSorted(
      (one, other) =>
        one.second - other.second ||
        one.verdict.localeCompare(other.verdict) ||
        (one.httpStatus ?? 0) - (other.httpStatus ?? 0),
    );
}

function readKey(key: string): Omit<EndedAttempts, 'attempts'> {
  const [second, verdict, status] = key.split(' ');
  return {
    second: Number(second),
    // Only `keyOf` makes keys.
    verdict: verdict as AttemptVerdict,
    httpStatus: status === '' ? null : Number(status),
  };
}

/** Attempts of the same minute become one entry. A run of days has few thousand minutes. */
export function joinMinutes(answers: Answers): Answers {
  const joined: Answers = { ended: new Map(), took: answers.took };
  for (const { second, verdict, httpStatus, attempts } of listEnded(answers)) {
    increase(joined.ended, keyOf(second - (second % 60), verdict, httpStatus), attempts);
  }
  return joined;
}

/** Milliseconds, cut to their first two digits. */
export function cutToTwoDigits(took: number): number {
  const unit = 10 ** Math.max(0, String(took).length - 2);
  return took - (took % unit);
}

/** Milliseconds, up to a tenth too small; null without answers. */
export type Latency = {
  readonly answered: number;
  readonly median: number | null;
  readonly p95: number | null;
  readonly p99: number | null;
};

export function readLatency({ took }: Answers): Latency {
  const ordered = [...took].toSorted(([one], [other]) => one - other);
  const answered = ordered.reduce((sum, [, attempts]) => sum + attempts, 0);
  const percentile = (share: number): number | null => {
    let rest = Math.ceil(share * answered);
    for (const [lasted, attempts] of ordered) {
      rest -= attempts;
      if (rest <= 0) return lasted;
    }
    return null;
  };
  return { answered, median: percentile(0.5), p95: percentile(0.95), p99: percentile(0.99) };
}
