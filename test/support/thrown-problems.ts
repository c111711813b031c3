import { expect } from 'vitest';
import { InputError } from '../../src/domain/problems.ts';

/** Returns the problems of the thrown InputError as `where: what`. */
export function problemsThrown(act: () => unknown): string[] {
  try {
    act();
  } catch (error) {
    return linesOf(error);
  }
  return expect.fail('expected an InputError, and nothing was thrown');
}

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
