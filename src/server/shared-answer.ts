/** Callers share an answer while it is pending, and for `maxAge` milliseconds afterwards; a rejection is not kept. */
export function shareAnswer<Answer>(
  ask: () => Promise<Answer>,
  maxAge: number,
  monotonic: () => number,
): () => Promise<Answer> {
  let last: { readonly answer: Answer; readonly until: number } | undefined;
  let asking: Promise<Answer> | undefined;
  return async () => {
    if (last && last.until > monotonic()) return last.answer;
    asking ??= ask()
      .then((answer) => {
        last = { answer, until: monotonic() + maxAge };
        return answer;
      })
      .finally(() => {
        asking = undefined;
      });
    return asking;
  };
}

/** Rejects after so many milliseconds, with `late`; the work itself continues. */
export function withTimeout<Result>(
  milliseconds: number,
  work: Promise<Result>,
  late: () => Error = () => new Error(`not done within ${milliseconds} ms`),
): Promise<Result> {
  const { promise, resolve, reject } = Promise.withResolvers<Result>();
  const timer = setTimeout(() => reject(late()), milliseconds);
  work.then(resolve, reject).finally(() => clearTimeout(timer));
  return promise;
}
