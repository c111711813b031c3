import type { z } from 'zod';
import { asSentence } from '../../platform/sentence.ts';

/** Fields of a form or an address, as Fastify reads them. */
export type Fields = Readonly<Record<string, string | readonly string[] | undefined>>;

/** The first value, without spaces around it; empty when there is none. */
export function textIn(fields: Fields, name: string): string {
  return textsIn(fields, name)[0] ?? '';
}

/** All values, without spaces around them and without empty ones. */
export function textsIn(fields: Fields, name: string): readonly string[] {
  const given = fields[name] ?? [];
  return (typeof given === 'string' ? [given] : given)
    .map((value) => value.trim())
    .filter((value) => value !== '');
}

/** The values of a field that has one in each line. */
export function linesIn(fields: Fields, name: string): readonly string[] {
  return textsIn({ lines: textsIn(fields, name).flatMap((text) => text.split('\n')) }, 'lines');
}

/** The first problem of each field, as a sentence; `otherwise` is the field of those of none. */
export function problemsOf(error: z.ZodError, otherwise = ''): Readonly<Record<string, string>> {
  const problems = error.issues.map(
    ({ path, message }) => [path[0] ?? otherwise, asSentence(message)] as const,
  );
  return Object.fromEntries(problems.toReversed());
}

/** A number of up to nine digits; 0 for anything else. */
export function numberIn(fields: Fields, name: string): number {
  const text = textIn(fields, name);
  return /^\d{1,9}$/.test(text) ? Number(text) : 0;
}

export function wordIn<Word extends string>(
  fields: Fields,
  name: string,
  words: readonly Word[],
): Word | undefined {
  const text = textIn(fields, name);
  return words.find((word) => word === text);
}
