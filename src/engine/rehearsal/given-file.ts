import { z } from 'zod';
import { InputError } from '../../domain/problems.ts';
import { fewestRecipients } from '../../ledger/watch/destinations.ts';
import { duration, percentage, text } from '../../platform/scalars.ts';
import { readYaml, type YamlFile } from '../../platform/yaml.ts';
import { readText } from '../definition-files.ts';
import type { Settings } from '../settings.ts';

/** The file of `--given`: what the service would do in a rehearsal. What it leaves out is as in former runs. */

export type GivenShares = {
  readonly delivered?: number | undefined;
  readonly undelivered?: number | undefined;
};

const isAtMostAll = ({ delivered = 0, undelivered = 0 }: GivenShares): boolean =>
  delivered + undelivered <= 1;
const tooMuch = { path: ['undelivered'], error: 'expected at most 100% together with "delivered"' };

const shares = {
  delivered: percentage.optional().describe('Accepted recipients that are delivered.'),
  undelivered: percentage
    .optional()
    .describe(
      'Accepted recipients that are undelivered. The rest get no report; if only one of the two is given, as many as usual.',
    ),
};

const destination = z
  .strictObject({
    destination: text.describe(
      'A domain, or the first six characters of phone numbers: "+61412" (in quotes).',
    ),
    ...shares,
    from: percentage.prefault('0%').describe('From when on: when this share of the run has been sent.'),
  })
  .refine(isAtMostAll, tooMuch);

const givenSchema = z
  .strictObject({
    answerAfter: duration.optional().describe('How long the service takes to answer a request.'),
    rejected: percentage.optional().describe('Recipients whose requests are rejected.'),
    unknown: percentage.optional().describe('Recipients whose requests stay in doubt.'),
    ...shares,
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
    destinations: z.array(destination).max(1_000).default([]).describe('Destinations that differ.'),
  })
  .refine(isAtMostAll, tooMuch)
  .meta({ title: 'Volley rehearsal' });

export type Given = z.output<typeof givenSchema>;

export function givenJsonSchema(): unknown {
  return z.toJSONSchema(givenSchema, { io: 'input' });
}

/** @throws InputError with all mistakes, each with its place */
export async function loadGiven(path: string, settings: Settings): Promise<YamlFile<Given>> {
  return readGiven(await readText(path, settings, 'rehearsal'), path);
}

export function readGiven(text: string, path: string): YamlFile<Given> {
  return readYaml(text, path, givenSchema);
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
