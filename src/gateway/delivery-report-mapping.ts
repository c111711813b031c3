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
    .describe(`${description} Your list replaces the default.`);
}

const withoutType = z
  .strictObject({
    type: z
      .enum(['SMS', 'Email', 'Voice', 'Fax'])
      .optional()
      .describe('Their Type, which says what the invoice counts.'),
    report: text.optional().describe('The field that only reports have; without it, all but replies.'),
    reply: text.optional().describe('The field that only replies have, such as ReceivedID.'),
  })
  .refine(({ type, report }) => type !== undefined || report !== undefined, 'expected "type" or "report"')
  .optional()
  .describe('How reports without a Type are recognised; by default not read.');

export const deliveryReportMappingShape = {
  fields: z
    .partialRecord(z.enum(deliveryReportFields), z.array(text).min(1, 'expected at least one name'))
    .default({})
    .describe('Other names of fields: a list under the known one. The first with a value counts.'),
  statusWords: meaningsSchema(
    'Words of Status: delivered, undelivered or pending. Success, Failed and Pending are known.',
  ),
  resultWords: meaningsSchema(
    'The meaning of a whole Result, before the Status. "Control Deleted" is undelivered by default.',
  ),
  optOutResults: textListSchema(
    ['Destination is blacklisted'],
    'Whole Results, in any case, that mean the recipient opted out.',
  ),
  stopWords: textListSchema(
    observedMapping.stopWords,
    'Replies that opt the recipient out. The whole message is compared, in any case, without final punctuation.',
  ),
  credits: z.enum(['refused', 'allowed']).default('refused').describe('Whether a negative Price counts.'),
  withoutType,
  reportsIn: z
    .array(text)
    .max(5)
    .optional()
    .describe(
      'Where the reports of a call are: names from the outside, such as [Batch, Report], without the root element of XML. []: the JSON is a list. By default a call is one report.',
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
