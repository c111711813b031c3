/**
 * Keeps the results of a pure function. Drops all of them when there are too many.
 *
 * @param max results
 */
export function memoize<Argument, Result extends NonNullable<unknown>>(
  compute: (argument: Argument) => Result,
  max = 10_000,
): (argument: Argument) => Result {
  const results = new Map<Argument, Result>();
  return (argument) => {
    const memoized = results.get(argument);
    if (memoized !== undefined) return memoized;
    if (results.size >= max) results.clear();
    const result = compute(argument);
    results.set(argument, result);
    return result;
  };
}
