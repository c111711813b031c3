export type Defer = (close: () => Promise<unknown> | unknown) => void;

/**
 * Runs work, then closes what it has opened, the last first, even if one fails. Node 22 has nothing for this.
 *
 * @throws the error of the work, or else the first error of a close
 */
export async function closeAfter<Result>(work: (defer: Defer) => Promise<Result>): Promise<Result> {
  const closers: Parameters<Defer>[0][] = [];
  const closeAll = async (): Promise<unknown[]> => {
    const errors: unknown[] = [];
    for (const close of closers.reverse()) {
      try {
        await close();
      } catch (error) {
        errors.push(error);
      }
    }
    return errors;
  };
  let result: Result;
  try {
    result = await work((close) => closers.push(close));
  } catch (error) {
    await closeAll();
    throw error;
  }
  const [failure] = await closeAll();
  if (failure !== undefined) throw failure;
  return result;
}
