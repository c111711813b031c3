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
    .describe(`${description} In place of: ${byDefault.join(', ')}; an empty list for none.`);
}

export const deliveryReportMappingShape = {
  fields: z
    .partialRecord(z.enum(deliveryReportFields), z.array(text).min(1, 'expected at least one name'))
    .default({})
    .describe(
      'What this account calls the fields of delivery reports: under the name Volley knows, the names to look for in its place, in this order and in any case. Fields that are not given keep their names.',
    ),
  statusWords: meaningsSchema(
    'What the words of Status mean, in any case: delivered, undelivered or pending. Added to Success, Failed and Pending; the same word replaces theirs.',
  ),
  resultWords: meaningsSchema(
    'What a whole Result means, in any case, whatever the Status says. Added to "Control Deleted", which is undelivered; the same text replaces it.',
  ),
  optOutResults: textListSchema(
    ['Destination is blacklisted'],
    'Results, whole and in any case, that say the recipient has opted out.',
  ),
  stopWords: textListSchema(
    observedMapping.stopWords,
    'Replies that opt their sender out: the whole message, in any case, punctuation at its end apart.',
  ),
  credits: z
    .enum(['refused', 'allowed'])
    .default('refused')
    .describe(
      'Whether a Price below nothing counts, where the service gives money back; otherwise its report is applied without a price, and `volley delivery-reports list` shows it.',
    ),
};

type MappingDefinition = {
  readonly [Key in keyof typeof deliveryReportMappingShape]: z.output<
    (typeof deliveryReportMappingShape)[Key]
  >;
};

export function toDeliveryReportMapping(written: MappingDefinition): DeliveryReportMapping {
  const fields = { ...observedMapping.fields };
  for (const field of deliveryReportFields) fields[field] = written.fields[field] ?? fields[field];
  return {
    fields,
    statusWords: { ...observedMapping.statusWords, ...toMeaningsByWord(written.statusWords) },
    resultWords: { ...observedMapping.resultWords, ...toMeaningsByWord(written.resultWords) },
    optOutResults: written.optOutResults.map(toWord),
    stopWords: written.stopWords,
    credits: written.credits,
  };
}

function toMeaningsByWord(written: MeaningsByWord): MeaningsByWord {
  return Object.fromEntries(Object.entries(written).map(([text, outcome]) => [toWord(text), outcome]));
}
