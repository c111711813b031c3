import { z } from 'zod';
import { InputError } from '../../domain/problems.ts';
import { fewestRecipients } from '../../ledger/watch/destinations.ts';
import { duration, percentage, text } from '../../platform/scalars.ts';
import { readYaml, type YamlFile } from '../../platform/yaml.ts';
import { readText } from '../definition-files.ts';
import type { Settings } from '../settings.ts';

/** The file of `--given`: what the service would do in a rehearsal. */

const undelivered = percentage.describe('Recipients with a report who are undelivered.');

/** A slower service would time out. */
const slowest = 600_000;

const givenSchema = z
  .strictObject({
    answerAfter: duration
      .refine((milliseconds) => milliseconds <= slowest, { error: 'expected at most 10m' })
      .optional()
      .describe('How long the service takes to answer a request.'),
    rejected: percentage.optional().describe('Recipients whose requests are rejected.'),
    unknown: percentage.optional().describe('Of the others: recipients whose requests stay in doubt.'),
    unreported: percentage.optional().describe('Accepted recipients who get no delivery report.'),
    undelivered: undelivered.optional(),
    reportAfter: z
      .strictObject({
        half: duration.describe('Half of the reports have come.'),
        most: duration.describe('95 % of the reports have come.'),
      })
      .refine(({ half, most }) => half <= most, {
        path: ['most'],
        error: 'expected at least as long as "half"',
      })
      .optional()
      .describe('How long after the answer.'),
    destinations: z
      .array(
        z.strictObject({
          destination: text.describe('A domain, or the first six characters of phone numbers: "+61412".'),
          undelivered,
          from: percentage.prefault('0%').describe('From when on: when this share of the run has been sent.'),
        }),
      )
      .max(1_000)
      .default([])
      .describe('Destinations that differ. Of several entries for one, the last that has begun holds.'),
  })
  .meta({ title: 'Volley rehearsal' });

export type Given = z.output<typeof givenSchema>;

export function givenJsonSchema(): z.core.JSONSchema.JSONSchema {
  return z.toJSONSchema(givenSchema, { io: 'input' });
}

/** @throws InputError with all mistakes, each with its place */
export async function loadGiven(path: string, settings: Settings): Promise<YamlFile<Given>> {
  return readGiven(await readText(path, settings, 'rehearsal'), path);
}

export function readGiven(source: string, path: string): YamlFile<Given> {
  return readYaml(source, path, givenSchema);
}

/**
 * @param known those of the run; small ones are counted together, under an empty name
 * @throws InputError for others
 */
export function requireDestinations({ value, locate }: YamlFile<Given>, known: readonly string[]): void {
  const named = known.filter((each) => each !== '');
  const some = named.length === 0 ? '' : ` Its destinations: ${named.slice(0, 10).join(', ')}.`;
  const problems = value.destinations.flatMap(({ destination }, index) => {
    const what = `The run has no destination "${destination}" with at least ${fewestRecipients} recipients.${some}`;
    const where = locate(['destinations', index, 'destination']);
    return named.includes(destination) ? [] : [{ where, what }];
  });
  if (problems.length > 0) throw new InputError(problems);
}
