/**
 * Lets many who ask share an answer: while one is under way, or no older than so many milliseconds, nobody asks again.
 * A rejection is shared by those who wait for it, and not kept.
 */
export function shareAnswer<Answer>(
  ask: () => Promise<Answer>,
  kept: number,
  monotonic: () => number,
): () => Promise<Answer> {
  let last: { readonly answer: Answer; readonly until: number } | undefined;
  let asking: Promise<Answer> | undefined;
  return async () => {
    if (last && last.until > monotonic()) return last.answer;
    asking ??= ask()
      .then((answer) => {
        last = { answer, until: monotonic() + kept };
        return answer;
      })
      .finally(() => {
        asking = undefined;
      });
    return asking;
  };
}

/** @param time milliseconds, after which it rejects; the work itself goes on */
export async function within<Result>(time: number, work: Promise<Result>): Promise<Result> {
  const { promise: late, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(new Error(`not done within ${time} ms`)), time);
  return Promise.race([work, late]).finally(() => clearTimeout(timer));
}
