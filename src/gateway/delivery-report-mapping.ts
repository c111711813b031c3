import { z } from 'zod';
import { text } from '../platform/scalars.ts';
import {
  type DeliveryReportMapping,
  deliveryReportFields,
  type MeaningsByWord,
  observedMapping,
  toWord,
  wordMeanings,
} from '../wire/delivery-report-mapping.ts';

/** How an account's delivery reports are read; the defaults are the observed ones. */

function meaningsSchema(description: string) {
  return z.record(z.string().min(1), z.enum(wordMeanings)).default({}).describe(description);
}

function textListSchema(byDefault: readonly string[], description: string) {
  return z
    .array(text)
    .default([...byDefault])
    .describe(`${description} Your list replaces the default; an empty one means none.`);
}

const withoutType = z
  .strictObject({
    type: z
      .enum(['SMS', 'Email', 'Voice', 'Fax'])
      .optional()
      .describe('The Type that reports without it have. It says what the invoice counts, such as SMS parts.'),
    report: text
      .optional()
      .describe('The field that only reports have, such as Status. Without it, all but replies are reports.'),
    reply: text.optional().describe('The field that only replies have, such as ReceivedID.'),
  })
  .refine(({ type, report }) => type !== undefined || report !== undefined, 'expected "type" or "report"')
  .optional()
  .describe('How delivery reports without a Type are recognised. By default Volley does not read them.');

export const deliveryReportMappingShape = {
  fields: z
    .partialRecord(z.enum(deliveryReportFields), z.array(text).min(1, 'expected at least one name'))
    .default({})
    .describe(
      'Other names of fields: a list under the name that Volley knows. The first name with a value counts, in any case.',
    ),
  statusWords: meaningsSchema(
    'The meaning of each word in Status, in any case: delivered, undelivered or pending. Success, Failed and Pending are known; the same word here replaces its default.',
  ),
  resultWords: meaningsSchema(
    'The meaning of a whole Result, in any case. It takes precedence over the Status. "Control Deleted" is undelivered by default; the same text here replaces that.',
  ),
  optOutResults: textListSchema(
    ['Destination is blacklisted'],
    'Whole Results, in any case, that mean the recipient opted out.',
  ),
  stopWords: textListSchema(
    observedMapping.stopWords,
    'Replies that opt the recipient out. The whole message is compared, in any case, without final punctuation.',
  ),
  credits: z
    .enum(['refused', 'allowed'])
    .default('refused')
    .describe('Whether a negative Price counts, because the service gives money back.'),
  withoutType,
  reportsIn: z
    .array(text)
    .max(5)
    .optional()
    .describe(
      'Where the reports of a call are: the names from the outside, such as [Reports] or [Batch, Report], without the root element of XML. An empty list: the JSON of a call is a list itself. By default a call is one report.',
    ),
};

type MappingDefinition = z.output<z.ZodObject<typeof deliveryReportMappingShape>>;

export function toDeliveryReportMapping(written: MappingDefinition): DeliveryReportMapping {
  return {
    fields: { ...observedMapping.fields, ...written.fields },
    statusWords: { ...observedMapping.statusWords, ...toMeaningsByWord(written.statusWords) },
    resultWords: { ...observedMapping.resultWords, ...toMeaningsByWord(written.resultWords) },
    optOutResults: written.optOutResults.map(toWord),
    stopWords: written.stopWords,
    credits: written.credits,
    ...(written.withoutType && { withoutType: written.withoutType }),
    ...(written.reportsIn && { reportsIn: written.reportsIn }),
  };
}

function toMeaningsByWord(written: MeaningsByWord): MeaningsByWord {
  return Object.fromEntries(Object.entries(written).map(([text, outcome]) => [toWord(text), outcome]));
}
