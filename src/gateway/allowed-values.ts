import { z } from 'zod';
import type { InterfaceName } from '../domain/message.ts';
import type { Problem } from '../domain/problems.ts';
import { text } from '../platform/scalars.ts';
import { didYouMean } from '../platform/suggestions.ts';
import { type AllowedValues, allowedValueError, extendableFields } from '../wire/allowed-values.ts';

export const allowSchema = z
  .record(z.string(), z.array(z.union([text, z.literal('')])).min(1, 'expected at least one value'))
  .optional()
  .describe(
    'Values of message fields that this service accepts beyond the observed ones, by field name, such as { Resolution: [Fine], RetryAttempts: [6-9], NumberOfOperators: [0], SendMode: [Test] }. { EmailSubject: [""] } allows emails without a subject. Volley refuses all other values in campaigns.',
  );

/** Reports unknown fields, fields that an account cannot extend, and invalid entries. */
export function allowProblems(
  allowed: AllowedValues | undefined,
  interfaceName: InterfaceName,
  locate: (path: readonly (string | number)[]) => string,
): Problem[] {
  const known = extendableFields(interfaceName);
  return Object.entries(allowed ?? {}).flatMap(([name, entries]) => {
    const field = known.find((each) => each.name === name);
    if (field === undefined) {
      const names = known.map((each) => each.name);
      const what = `"allow.${name}": ${interfaceName} has no field of this name whose values can be allowed.${didYouMean(name, names)} Those are ${names.join(', ')}.`;
      return [{ where: locate(['allow', name]), what }];
    }
    return entries.flatMap((entry, index) => {
      const error = allowedValueError(field, entry);
      return error === undefined
        ? []
        : [{ where: locate(['allow', name, index]), what: `"allow.${name}": ${error}.` }];
    });
  });
}
