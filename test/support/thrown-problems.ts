import { expect } from 'vitest';
import { InputError } from '../../src/domain/problems.ts';

/** The problems of the InputError that this throws, each as the line a person reads: `where: what`. */
export function problemsThrown(act: () => unknown): string[] {
  try {
    act();
  } catch (error) {
    return linesOf(error);
  }
  return expect.fail('expected an InputError, and nothing was thrown');
}

/** The same of something that takes time. */
export async function problemsRejected(act: () => Promise<unknown>): Promise<string[]> {
  try {
    await act();
  } catch (error) {
    return linesOf(error);
  }
  return expect.fail('expected an InputError, and nothing was thrown');
}

function linesOf(error: unknown): string[] {
  if (!(error instanceof InputError)) throw error;
  return error.problems.map(({ where, what }) => `${where}: ${what}`);
}
